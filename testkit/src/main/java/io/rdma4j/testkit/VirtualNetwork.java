package io.rdma4j.testkit;

import io.rdma4j.wire.Frame;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
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
 * Hosts and the network between them, in one thread and in virtual time: frames are delivered in the order of their
 * arrival times, and the same seed gives the same run.
 *
 * <p>Use: make hosts, give them work, then {@link #step} until all is done. Not thread safe.
 */
public final class VirtualNetwork {
    /** A frame on its way; {@code order} makes equal times deterministic. */
    private record Delivery(long atNanos, long order, SimulatedHost destination, Frame frame)
            implements Comparable<Delivery> {
        @Override
        public int compareTo(Delivery other) {
            int byTime = Long.compare(atNanos, other.atNanos);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }
    }

    /** From one host to another, in this direction. */
    private record Way(SimulatedHost from, SimulatedHost to) {}

    private final SplittableRandom random;
    private final List<SimulatedHost> hosts = new ArrayList<>();
    private final List<SimulatedGroup> groups = new ArrayList<>();
    private final PriorityQueue<Delivery> underWay = new PriorityQueue<>();
    private final Map<SimulatedHost, SlowLink> slowLinks = new HashMap<>();
    private NetworkFaults faults;
    private long nowNanos;
    private long order;
    private long deliveredFrames;
    private long lostFrames;
    private Consumer<Frame> duplicates = frame -> {};
    private @Nullable NetworkObserver observer;
    private final Set<Way> cuts = new HashSet<>();
    private long traceHash = 0xcbf2_9ce4_8422_2325L;

    /**
     * Creates a network without hosts.
     *
     * @param seed of all that happens to frames
     * @param faults what happens to frames
     */
    public VirtualNetwork(long seed, NetworkFaults faults) {
        this.random = new SplittableRandom(seed);
        this.faults = faults;
    }

    /** Adds a host with the next address of 10.0.0.0/8. */
    public SimulatedHost addHost() {
        int address = 0x0a00_0001 + hosts.size();
        SimulatedHost host = new SimulatedHost(this, 0, Frame.ipv4Low(address), random.split());
        hosts.add(host);
        return host;
    }

    /** Adds a multicast group with the next address of 239.0.0.0/8. */
    public SimulatedGroup addGroup() {
        int address = 0xef00_0001 + groups.size();
        SimulatedGroup group = new SimulatedGroup(0, Frame.ipv4Low(address));
        groups.add(group);
        return group;
    }

    /**
     * Puts a link of limited speed before a host: all that goes there shares it.
     *
     * @param bytesPerSecond its speed, headers of Ethernet, IP and UDP included
     * @param bufferBytes what may wait for it; more is lost
     */
    public void slowDown(SimulatedHost host, long bytesPerSecond, long bufferBytes) {
        slowLinks.put(host, new SlowLink(bytesPerSecond, bufferBytes));
    }

    /** Changes what happens to frames sent from now on. */
    public void faults(NetworkFaults newFaults) {
        faults = newFaults;
    }

    /** Has every frame that arrives twice shown to somebody, when it is sent; used during the call only. */
    public void onDuplicate(Consumer<Frame> listener) {
        duplicates = listener;
    }

    /** Has everything that becomes of frames told to somebody; null for nobody. */
    public void observe(@Nullable NetworkObserver newObserver) {
        observer = newObserver;
    }

    /** Loses from now on every frame that a host sends to another, until {@link #heal}; the other direction stays. */
    public void cut(SimulatedHost from, SimulatedHost to) {
        cuts.add(new Way(from, to));
    }

    /** Takes {@link #cut} back. */
    public void heal(SimulatedHost from, SimulatedHost to) {
        cuts.remove(new Way(from, to));
    }

    /** Virtual time now. */
    public long nowNanos() {
        return nowNanos;
    }

    /** Frames that have arrived. */
    public long deliveredFrames() {
        return deliveredFrames;
    }

    /** Frames that never arrive. */
    public long lostFrames() {
        return lostFrames;
    }

    /** A number that depends on every frame delivered and its time: equal for equal runs. */
    public long traceHash() {
        return traceHash;
    }

    /** Whether no frame is under way and no host waits for a time. */
    public boolean isQuiet() {
        return underWay.isEmpty() && nextHostDeadline() == Long.MAX_VALUE;
    }

    /**
     * Goes to the next moment at which something happens, and lets it happen.
     *
     * @return false if nothing is left to happen
     */
    public boolean step() {
        return step(Long.MAX_VALUE);
    }

    /**
     * The same, but not beyond a time: if nothing happens before, it is that time then.
     *
     * @return false if nothing has happened
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
        while (!underWay.isEmpty() && underWay.peek().atNanos <= nowNanos) {
            deliver(underWay.remove());
        }
        // Frames first, timers after: a driver that fires timers while answers lie unread retransmits for nothing.
        for (SimulatedHost host : hosts) {
            host.runDeadlines();
        }
        return true;
    }

    /** Advances the clock without anything happening; for work that waits for a time of its own. */
    public void advanceTo(long nanos) {
        nowNanos = Math.max(nowNanos, nanos);
    }

    /** Earliest moment at which something happens by itself. */
    public long nextEventNanos() {
        return Math.min(underWay.isEmpty() ? Long.MAX_VALUE : underWay.peek().atNanos, nextHostDeadline());
    }

    private long nextHostDeadline() {
        long next = Long.MAX_VALUE;
        for (SimulatedHost host : hosts) {
            next = Math.min(next, host.nextDeadlineNanos());
        }
        return next;
    }

    /** Takes a sealed frame from a host; the frame's memory is copied. */
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
        long passed = passed(frame, destination);
        if (passed == SlowLink.LOST) {
            lose(frame);
            return;
        }
        long at = passed + faults.latencyNanos();
        if (chance(faults.duplication())) {
            duplicates.accept(frame);
            enqueue(at + jitter(), destination, copy(frame));
        }
        Frame copy = copy(frame);
        if (chance(faults.corruption())) {
            int bit = random.nextInt(copy.length * 8);
            copy.buffer.put(bit / 8, (byte) (copy.buffer.get(bit / 8) ^ 1 << bit % 8));
        }
        enqueue(chance(faults.reordering()) ? at + jitter() : at, destination, copy);
    }

    private boolean isLost(SimulatedHost from, SimulatedHost to) {
        if (!cuts.isEmpty() && cuts.contains(new Way(from, to))) {
            return true;
        }
        if (to.framesToLose == 0 && chance(faults.bursts())) {
            to.framesToLose = random.nextInt(2, NetworkFaults.MOST_FRAMES_OF_BURST + 1);
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

    private long passed(Frame frame, SimulatedHost destination) {
        SlowLink link = slowLinks.get(destination);
        return link == null ? nowNanos : link.pass(nowNanos, frame.length);
    }

    private void enqueue(long at, SimulatedHost destination, Frame frame) {
        underWay.add(new Delivery(at, order++, destination, frame));
    }

    private void deliver(Delivery delivery) {
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

    /** The group with an address, or null. */
    @Nullable
    SimulatedGroup findGroup(long high, long low) {
        for (SimulatedGroup group : groups) {
            if (group.high == high && group.low == low) {
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
