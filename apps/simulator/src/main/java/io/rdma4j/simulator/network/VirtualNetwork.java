package io.rdma4j.simulator.network;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.Ecn;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Hosts and the network between them, in one thread and in virtual time.
 *
 * <p>Frames are delivered in the order of their arrival times. Equal seeds give equal runs. About half of the hosts
 * share memory with each other, like processes of one host. About half of the networks have IPv6 addresses, and about
 * half mark some frames (ECN).
 *
 * <p>Usage: create hosts, post work to them, then call {@link #step} until all work is done. Not thread safe.
 */
public final class VirtualNetwork {
    /**
     * A frame in flight, or a UDP message if {@code message} is not null; {@code order} makes the order of equal times
     * deterministic.
     */
    private record Delivery(
            long atNanos,
            long order,
            SimulatedHost destination,
            Frame frame,
            @Nullable Message message) implements Comparable<Delivery> {
        @Override
        public int compareTo(Delivery other) {
            int byTime = Long.compare(atNanos, other.atNanos);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    /** A UDP message that is not RoCE, and its delivery. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    private record Message(byte[] bytes, Runnable delivery) {}

    private static final Frame NO_FRAME = new Frame();
    private static final long IPV6_PREFIX = 0xfd00_0000_0000_0000L;
    private static final long IPV6_GROUPS = 0xff0e_0000_0000_0000L;

    /** Probability that a marking network marks a frame of a capable sender. */
    private static final double MARKED = 0.02;

    /** One direction of the path between two hosts. */
    private record Direction(SimulatedHost from, SimulatedHost to) {}

    private final SplittableRandom random;

    /**
     * Decides which hosts share memory. It is separate, so that a seed draws the same faults as without shared memory.
     */
    private final SplittableRandom memoryRandom;

    /** Decides which frames are marked. It is separate for the same reason. */
    private final SplittableRandom markRandom;

    private final boolean isIpv6;
    private final boolean isMarking;
    private final Icrc icrc = new Icrc();
    private final List<SimulatedHost> hosts = new ArrayList<>();
    private final List<SimulatedGroup> groups = new ArrayList<>();
    private final PriorityQueue<Delivery> inFlight = new PriorityQueue<>();
    private final Map<SimulatedHost, SlowLink> slowLinks = new HashMap<>();
    private NetworkFaults faults;
    private long nowNanos;
    private long order;
    private long deliveredFrames;
    private long lostFrames;
    private long markedFrames;
    private Consumer<Frame> duplicateListener = frame -> {};
    private @Nullable NetworkObserver observer;
    private final Set<Direction> cuts = new HashSet<>();
    private long traceHash = 0xcbf2_9ce4_8422_2325L;

    /**
     * Creates a network without hosts.
     *
     * @param seed the seed of all random decisions about frames
     * @param faults the faults of the network
     */
    public VirtualNetwork(long seed, NetworkFaults faults) {
        this.random = new SplittableRandom(seed);
        this.memoryRandom = new SplittableRandom(~seed);
        this.markRandom = new SplittableRandom(seed + 1);
        this.isIpv6 = markRandom.nextBoolean();
        this.isMarking = markRandom.nextBoolean();
        this.faults = faults;
    }

    /** Adds a host with the next unused address of 10.0.0.0/8 or fd00::/8. */
    public SimulatedHost addHost() {
        int address = 0x0a00_0001 + hosts.size();
        long high = isIpv6 ? IPV6_PREFIX : 0;
        long low = isIpv6 ? address : Gid.ipv4Low(address);
        SimulatedHost host = new SimulatedHost(this, high, low, memoryRandom.nextBoolean(), random.split());
        hosts.add(host);
        return host;
    }

    /** Adds a multicast group with the next unused address of 239.0.0.0/8 or ff0e::/16. */
    public SimulatedGroup addGroup() {
        int address = 0xef00_0001 + groups.size();
        SimulatedGroup group = isIpv6
                ? new SimulatedGroup(IPV6_GROUPS, address & 0xffff)
                : new SimulatedGroup(0, Gid.ipv4Low(address));
        groups.add(group);
        return group;
    }

    /**
     * Places a link of limited speed, which all frames to a host share, before that host.
     *
     * @param bytesPerSecond speed of the link, including Ethernet, IP and UDP headers
     * @param bufferBytes capacity of the link's buffer; frames that exceed it are lost
     */
    public void slowDown(SimulatedHost host, long bytesPerSecond, long bufferBytes) {
        slowDown(host, bytesPerSecond, bufferBytes, bufferBytes);
    }

    /**
     * Like {@link #slowDown(SimulatedHost, long, long)}, with a link that marks frames.
     *
     * @param markBytes bytes in the buffer above which the frames of capable senders are marked (ECN)
     */
    public void slowDown(SimulatedHost host, long bytesPerSecond, long bufferBytes, long markBytes) {
        slowLinks.put(host, new SlowLink(bytesPerSecond, bufferBytes, markBytes));
    }

    /** Replaces the faults for frames that are sent afterwards. Ends current loss bursts. */
    public void faults(NetworkFaults newFaults) {
        faults = newFaults;
        hosts.forEach(host -> host.framesToLose = 0);
    }

    /** Sets a listener that is called when a duplicated frame is sent. It may use the frame only during the call. */
    public void onDuplicate(Consumer<Frame> listener) {
        duplicateListener = listener;
    }

    /** Sets the observer of deliveries and losses; null for none. */
    public void observe(@Nullable NetworkObserver newObserver) {
        observer = newObserver;
    }

    /** Drops every frame from one host to another until {@link #heal}. The opposite direction is not affected. */
    public void cut(SimulatedHost from, SimulatedHost to) {
        cuts.add(new Direction(from, to));
    }

    /** Reverts {@link #cut}. */
    public void heal(SimulatedHost from, SimulatedHost to) {
        cuts.remove(new Direction(from, to));
    }

    /** Returns the current virtual time. */
    public long nowNanos() {
        return nowNanos;
    }

    /** Returns the number of frames delivered. */
    public long deliveredFrames() {
        return deliveredFrames;
    }

    /** Returns the number of frames lost. */
    public long lostFrames() {
        return lostFrames;
    }

    /** Returns the number of frames that slow links or a marking network have marked. */
    public long markedFrames() {
        return markedFrames;
    }

    /** Returns a hash of every delivered frame and its time; equal runs have equal hashes. */
    public long traceHash() {
        return traceHash;
    }

    /** Returns whether no frame is in flight and no host has a pending deadline. */
    public boolean isQuiet() {
        return inFlight.isEmpty() && nextHostDeadline() == Long.MAX_VALUE;
    }

    /**
     * Advances to the next event and processes it.
     *
     * @return false if there is no event
     */
    public boolean step() {
        return step(Long.MAX_VALUE);
    }

    /**
     * Advances to the next event and processes it, but not beyond a limit. If there is no event until then, the clock
     * advances to the limit.
     *
     * @return false if no event was processed
     */
    public boolean step(long limitNanos) {
        for (SimulatedHost host : hosts) {
            host.transmit();
        }
        long next = nextEventNanos();
        if (next == Long.MAX_VALUE || next > limitNanos) {
            advanceTo(limitNanos == Long.MAX_VALUE ? nowNanos : limitNanos);
            return false;
        }
        nowNanos = Math.max(nowNanos, next);
        while (!inFlight.isEmpty() && inFlight.peek().atNanos <= nowNanos) {
            deliver(inFlight.remove());
        }
        // Frames before timers: otherwise a host would retransmit although the responses are waiting to be read.
        for (SimulatedHost host : hosts) {
            host.runDeadlines();
        }
        return true;
    }

    /** Advances the clock without processing events; for callers with separate deadlines. */
    public void advanceTo(long nanos) {
        nowNanos = Math.max(nowNanos, nanos);
    }

    /** Returns the time of the next event, or {@link Long#MAX_VALUE} if there is none. */
    public long nextEventNanos() {
        return Math.min(inFlight.isEmpty() ? Long.MAX_VALUE : inFlight.peek().atNanos, nextHostDeadline());
    }

    private long nextHostDeadline() {
        long next = Long.MAX_VALUE;
        for (SimulatedHost host : hosts) {
            next = Math.min(next, host.nextDeadlineNanos());
        }
        return next;
    }

    /** Sends a frame from a host. It is sealed unless it goes by shared memory. The frame's memory is copied. */
    void send(SimulatedHost from, Frame frame) {
        SimulatedGroup group = findGroup(frame.destinationHigh, frame.destinationLow);
        if (group == null) {
            send(from, frame, find(frame.destinationHigh, frame.destinationLow));
            return;
        }
        for (SimulatedHost member : group.hosts()) {
            send(from, frame, member);
        }
    }

    private void send(SimulatedHost from, Frame frame, @Nullable SimulatedHost destination) {
        if (destination == null || isLost(from, destination)) {
            lose(frame);
            return;
        }
        boolean isMarked = Ecn.isCapable(frame.trafficClass) && isMarking(destination);
        long transmittedNanos = transmittedNanos(frame, destination);
        if (transmittedNanos == SlowLink.LOST) {
            lose(frame);
            return;
        }
        long at = transmittedNanos + faults.latencyNanos();
        if (chance(faults.duplication())) {
            duplicateListener.accept(frame);
            enqueue(at + jitter(), destination, copy(frame));
        }
        Frame copy = copy(frame);
        if (isMarked) {
            copy.trafficClass |= Ecn.MARKED;
            markedFrames++;
        }
        if (chance(faults.corruption())) {
            seal(copy); // faults corrupt packets as on the wire, even if they pass through memory
            int bit = random.nextInt(copy.length * 8);
            copy.buffer.put(bit / 8, (byte) (copy.buffer.get(bit / 8) ^ 1 << bit % 8));
        }
        enqueue(chance(faults.reordering()) ? at + jitter() : at, destination, copy);
    }

    private void seal(Frame frame) {
        if (!frame.isSealed) {
            icrc.seal(frame);
            frame.isSealed = true;
        }
    }

    /** Returns whether a frame from a host goes to a host that shares memory with it. Such frames need no ICRC. */
    boolean isByMemory(SimulatedHost from, Frame frame) {
        SimulatedHost destination = from.sharesMemory ? find(frame.destinationHigh, frame.destinationLow) : null;
        return destination != null && destination.sharesMemory;
    }

    private boolean isLost(SimulatedHost from, SimulatedHost to) {
        if (!cuts.isEmpty() && cuts.contains(new Direction(from, to))) {
            return true;
        }
        if (to.framesToLose == 0 && chance(faults.bursts())) {
            to.framesToLose = random.nextInt(2, NetworkFaults.MAX_FRAMES_OF_BURST + 1);
        }
        if (to.framesToLose > 0) {
            to.framesToLose--;
            return true;
        }
        return chance(faults.loss());
    }

    private void lose(Frame frame) {
        lostFrames++;
        if (observer != null) {
            observer.onFrame(nowNanos, NetworkObserver.Fate.LOST, copy(frame));
        }
    }

    private boolean isMarking(SimulatedHost destination) {
        SlowLink link = slowLinks.get(destination);
        return link != null ? link.isMarking(nowNanos) : isMarking && markRandom.nextDouble() < MARKED;
    }

    /** Returns whether the network marks frames of capable senders, also without slow links. */
    boolean isMarking() {
        return isMarking;
    }

    private long transmittedNanos(Frame frame, SimulatedHost destination) {
        SlowLink link = slowLinks.get(destination);
        return link == null ? nowNanos : link.transmit(nowNanos, frame.length);
    }

    private void enqueue(long at, SimulatedHost destination, Frame frame) {
        inFlight.add(new Delivery(at, order++, destination, frame, null));
    }

    /**
     * Sends a UDP message that is not RoCE. A corrupted message is lost because of its checksum.
     *
     * @param bytes the message
     * @param delivery called when it arrives at a host that is up
     * @return true if it is duplicated
     */
    boolean sendMessage(SimulatedHost from, SimulatedHost to, byte[] bytes, Runnable delivery) {
        if (isLost(from, to) || chance(faults.corruption())) {
            lostFrames++;
            return false;
        }
        SlowLink link = slowLinks.get(to);
        long transmittedNanos = link == null ? nowNanos : link.transmit(nowNanos, bytes.length);
        if (transmittedNanos == SlowLink.LOST) {
            lostFrames++;
            return false;
        }
        long at = transmittedNanos + faults.latencyNanos();
        Message message = new Message(bytes, delivery);
        boolean isDuplicated = chance(faults.duplication());
        if (isDuplicated) {
            inFlight.add(new Delivery(at + jitter(), order++, to, NO_FRAME, message));
        }
        inFlight.add(new Delivery(chance(faults.reordering()) ? at + jitter() : at, order++, to, NO_FRAME, message));
        return isDuplicated;
    }

    private void deliver(Delivery delivery, Message message) {
        if (!delivery.destination.isUp()) {
            lostFrames++;
            return;
        }
        deliveredFrames++;
        mix(delivery.atNanos);
        mix(Arrays.hashCode(message.bytes));
        message.delivery.run();
    }

    private void deliver(Delivery delivery) {
        if (delivery.message != null) {
            deliver(delivery, delivery.message);
            return;
        }
        if (!delivery.destination.isUp()) {
            lose(delivery.frame);
            return;
        }
        deliveredFrames++;
        if (observer != null) {
            observer.onFrame(delivery.atNanos, NetworkObserver.Fate.ARRIVES, delivery.frame);
        }
        mix(delivery.atNanos);
        ByteBuffer bytes = delivery.frame.buffer;
        for (int i = 0; i + Long.BYTES <= delivery.frame.length; i += Long.BYTES) {
            mix(bytes.getLong(i));
        }
        delivery.destination.receive(delivery.frame);
    }

    private void mix(long value) {
        traceHash = (traceHash ^ value) * 0x100_0000_01b3L;
        traceHash ^= traceHash >>> 29;
    }

    private boolean chance(double probability) {
        return probability > 0 && random.nextDouble() < probability;
    }

    private long jitter() {
        return faults.jitterNanos() > 0 ? random.nextLong(faults.jitterNanos()) : 0;
    }

    private @Nullable SimulatedHost find(long high, long low) {
        for (SimulatedHost host : hosts) {
            if (host.addressHigh() == high && host.addressLow() == low) {
                return host;
            }
        }
        return null;
    }

    /** Returns the group with an address, or null. */
    @Nullable
    SimulatedGroup findGroup(long high, long low) {
        for (SimulatedGroup group : groups) {
            if (group.addressHigh == high && group.addressLow == low) {
                return group;
            }
        }
        return null;
    }

    private static Frame copy(Frame frame) {
        byte[] bytes = new byte[frame.length];
        MemorySegment segment = MemorySegment.ofArray(bytes);
        MemorySegment.copy(frame.segment, frame.offset, segment, 0, frame.length);
        Frame copy = new Frame();
        copy.set(frame);
        copy.segment = segment;
        copy.buffer = ByteBuffer.wrap(bytes);
        copy.offset = 0;
        return copy;
    }
}
