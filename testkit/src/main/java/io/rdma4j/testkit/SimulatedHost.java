package io.rdma4j.testkit;

import io.rdma4j.transport.DatagramDestination;
import io.rdma4j.transport.MemoryTable;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.UcQueuePair;
import io.rdma4j.transport.UdQueuePair;
import io.rdma4j.transport.cm.CmAgent;
import io.rdma4j.transport.cm.CmConfiguration;
import io.rdma4j.transport.cm.CmDatagram;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import io.rdma4j.wire.cm.CmMad;
import io.rdma4j.wire.cm.GsiPacket;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * One host of a {@link VirtualNetwork}: an address, registered memory, queue pairs and a communication manager, driven as a
 * device drives them. A datagram goes to a host or a {@link SimulatedGroup}: it is the {@link
 * io.rdma4j.transport.SendRequest#destination}. Not thread safe.
 *
 * <p>A host may be paused, as a process by SIGSTOP or a long collection of garbage: what arrives waits, and is read before
 * timers fire. It may crash: all that it had is gone, and what arrives is lost until it is started again.
 */
public final class SimulatedHost implements DatagramDestination {
    private static final int MAX_FRAME_BYTES = 4096 + QueuePairMachine.HEADER_ROOM_BYTES + Packet.ICRC_LENGTH;

    /** One more than the highest number of a queue pair that is given out. */
    private static final int QUEUE_PAIR_NUMBERS = 0xff_ffff;

    /** Numbers of queue pairs that were taken away and are not given out again yet. */
    private static final int MOST_RETIRED_NUMBERS = Math.min(QUEUE_PAIR_NUMBERS / 2, 256);

    /** Frames that wait while the host is paused; more are lost, as in a socket. */
    private static final int MOST_WAITING_FRAMES = 1024;

    private static final int CM_SOURCE_PORT = 0xc001;

    private final VirtualNetwork network;
    private final long high;
    private final long low;
    private final SplittableRandom random;
    private final long guid;
    private MemoryTable memory;
    private CmAgent agent;
    private final CmDatagram mad = new CmDatagram();
    private final ArrayDeque<Frame> waiting = new ArrayDeque<>();
    private final ArrayDeque<Integer> retiredNumbers = new ArrayDeque<>();
    private boolean isUp = true;
    private boolean isPaused;
    private int madPsn;

    /** Frames that the burst under way still takes. */
    int framesToLose;

    private final Map<Integer, QueuePairMachine> queuePairs = new LinkedHashMap<>();
    private final Icrc icrc = new Icrc();
    private final Packet packet = new Packet();
    private final Frame outgoing = new Frame();
    private long badChecksums;
    private long unreadableFrames;
    private long unknownQueuePairs;

    SimulatedHost(VirtualNetwork network, long high, long low, SplittableRandom random) {
        this.network = network;
        this.high = high;
        this.low = low;
        this.random = random;
        this.guid = low << 32 | low;
        this.memory = new MemoryTable(random::nextInt);
        this.agent = newAgent();
        byte[] bytes = new byte[MAX_FRAME_BYTES];
        outgoing.segment = MemorySegment.ofArray(bytes);
        outgoing.buffer = ByteBuffer.wrap(bytes);
        outgoing.sourceHigh = high;
        outgoing.sourceLow = low;
    }

    /** Upper half of the host's address in GID form. */
    public long addressHigh() {
        return high;
    }

    /** Lower half of the host's address in GID form. */
    public long addressLow() {
        return low;
    }

    private CmAgent newAgent() {
        return new CmAgent(CmConfiguration.of(guid, random::nextInt));
    }

    /** The host's registered memory; another one after a crash. */
    public MemoryTable memory() {
        return memory;
    }

    /** The host's communication manager; another one after a crash. */
    public CmAgent agent() {
        return agent;
    }

    /** Whether it runs, paused or not. */
    public boolean isUp() {
        return isUp;
    }

    /** Whether it does nothing for a while. */
    public boolean isPaused() {
        return isPaused;
    }

    /** Lets it do nothing until {@link #resume}. */
    public void pause() {
        isPaused = true;
    }

    /** Lets it go on: what has arrived meanwhile is read first. */
    public void resume() {
        isPaused = false;
        while (!waiting.isEmpty()) {
            onFrame(waiting.remove());
        }
    }

    /** Takes away all that it has, memory, queue pairs and connections, without a word to anybody. */
    public void crash() {
        isUp = false;
        isPaused = false;
        waiting.clear();
        List.copyOf(queuePairs.values()).forEach(this::remove);
        memory = new MemoryTable(random::nextInt);
        agent = newAgent();
    }

    /** Starts it again after {@link #crash}, with nothing. */
    public void restart() {
        isUp = true;
    }

    /** Whether nothing is left of all queue pairs, registrations and connections. */
    public boolean isEmpty() {
        return queuePairs.isEmpty()
                && memory.size() == 0
                && memory.windowCount() == 0
                && agent.connectionCount() == 0
                && agent.halfOpenCount() == 0;
    }

    /** What is left, for a message. */
    public String contents() {
        return queuePairs.keySet() + ", " + memory.size() + " regions, " + memory.windowCount() + " windows, "
                + agent.connectionCount() + " connections, " + agent.halfOpenCount() + " half open";
    }

    /** Frames dropped because of their ICRC. */
    public long badChecksums() {
        return badChecksums;
    }

    /** A queue pair number that is not in use on this host, and was not lately. */
    public int unusedQueuePairNumber() {
        // Where numbers are few, those that were taken away longest ago come back first.
        while (retiredNumbers.size() + queuePairs.size() > QUEUE_PAIR_NUMBERS / 2 && !retiredNumbers.isEmpty()) {
            retiredNumbers.remove();
        }
        int number;
        do {
            number = random.nextInt(2, QUEUE_PAIR_NUMBERS);
        } while (queuePairs.containsKey(number) || retiredNumbers.contains(number));
        return number;
    }

    /** Adds a queue pair; packets with its number go to it from now on. */
    public void add(QueuePairMachine queuePair) {
        queuePairs.put(queuePair.number(), queuePair);
    }

    /** Takes a queue pair away; packets with its number are dropped from now on. */
    public void remove(QueuePairMachine queuePair) {
        if (queuePairs.remove(queuePair.number()) != null) {
            retiredNumbers.add(queuePair.number());
            if (retiredNumbers.size() > MOST_RETIRED_NUMBERS) {
                retiredNumbers.remove();
            }
        }
    }

    /** Lets the communication manager and every queue pair send what they have. */
    public void transmit() {
        if (isPaused) {
            return;
        }
        while (agent.pollTransmit(mad)) {
            sendMad();
        }
        for (QueuePairMachine queuePair : queuePairs.values()) {
            int bytes;
            while ((bytes = queuePair.pollTransmit(network.nowNanos(), outgoing.segment, 0)) > 0) {
                send(queuePair, bytes);
            }
        }
    }

    private void send(QueuePairMachine queuePair, int bytes) {
        outgoing.length = bytes + Packet.ICRC_LENGTH;
        address(queuePair);
        send(0xc000 | queuePair.number() & 0x3fff);
    }

    private void sendMad() {
        GsiPacket.writeHeaders(outgoing.segment, 0, madPsn++ & Psn.MASK);
        MemorySegment.copy(mad.mad, 0, outgoing.segment, GsiPacket.HEADER_LENGTH, CmMad.LENGTH);
        outgoing.length = GsiPacket.LENGTH;
        address(mad.remoteHigh, mad.remoteLow);
        send(CM_SOURCE_PORT);
    }

    private void send(int sourcePort) {
        outgoing.offset = 0;
        outgoing.sourcePort = sourcePort;
        outgoing.identification = 0;
        icrc.seal(outgoing);
        network.send(this, outgoing);
    }

    private void address(QueuePairMachine queuePair) {
        QueuePairMachine.Peer peer = null;
        switch (queuePair) {
            case RcQueuePair reliable -> {
                RcQueuePair.ReceiveParameters parameters = reliable.receiveParameters();
                peer = parameters == null ? null : parameters.peer();
            }
            case UcQueuePair unreliable -> peer = unreliable.peer();
            case UdQueuePair datagrams -> {
                switch (datagrams.destination()) {
                    case SimulatedHost host -> address(host.high, host.low);
                    case SimulatedGroup group -> address(group.high, group.low);
                    case null, default -> throw new AssertionError("a datagram to nobody");
                }
                return;
            }
        }
        if (peer == null) {
            throw new AssertionError("a queue pair has sent a packet to nobody");
        }
        address(peer.remoteHigh(), peer.remoteLow());
    }

    private void address(long remoteHigh, long remoteLow) {
        outgoing.destinationHigh = remoteHigh;
        outgoing.destinationLow = remoteLow;
    }

    /** Takes a frame that arrives; while paused it waits. */
    void receive(Frame frame) {
        if (!isPaused) {
            onFrame(frame);
        } else if (waiting.size() < MOST_WAITING_FRAMES) {
            waiting.add(frame);
        }
    }

    private void onFrame(Frame frame) {
        if (packet.parse(frame) != Packet.Result.OK) {
            unreadableFrames++;
            return;
        }
        SimulatedGroup group = network.findGroup(frame.destinationHigh, frame.destinationLow);
        if (group != null) {
            onGroupFrame(group, frame);
            return;
        }
        if (GsiPacket.isGsi(packet)) {
            onMad(frame);
            return;
        }
        QueuePairMachine queuePair = queuePairs.get(packet.destinationQueuePair());
        if (queuePair == null) {
            unknownQueuePairs++;
            return;
        }
        if (!icrc.verify(frame)) {
            badChecksums++;
            return;
        }
        queuePair.onPacket(network.nowNanos(), packet);
    }

    private void onMad(Frame frame) {
        if (!GsiPacket.isDeliverable(packet)) {
            unreadableFrames++;
        } else if (!icrc.verify(frame)) {
            badChecksums++;
        } else {
            agent.onMad(
                    network.nowNanos(),
                    frame.sourceHigh,
                    frame.sourceLow,
                    0,
                    packet.segment(),
                    packet.payloadOffset(),
                    packet.payloadLength(),
                    frame.destinationHigh,
                    frame.destinationLow);
        }
    }

    private void onGroupFrame(SimulatedGroup group, Frame frame) {
        if (packet.destinationQueuePair() != SimulatedGroup.QUEUE_PAIR) {
            unknownQueuePairs++;
        } else if (!icrc.verify(frame)) {
            badChecksums++;
        } else {
            for (UdQueuePair queuePair : group.queuePairs(this)) {
                queuePair.onPacket(network.nowNanos(), packet);
            }
        }
    }

    /** Frames that could not be read, or were for nobody. */
    public long strayFrames() {
        return unreadableFrames + unknownQueuePairs;
    }

    void runDeadlines() {
        if (isPaused) {
            return;
        }
        if (agent.nextDeadlineNanos() <= network.nowNanos()) {
            agent.onDeadline(network.nowNanos());
        }
        for (QueuePairMachine queuePair : queuePairs.values()) {
            if (queuePair.nextDeadlineNanos() <= network.nowNanos()) {
                queuePair.onDeadline(network.nowNanos());
            }
        }
    }

    long nextDeadlineNanos() {
        if (isPaused) {
            return Long.MAX_VALUE;
        }
        long next = agent.nextDeadlineNanos();
        for (QueuePairMachine queuePair : queuePairs.values()) {
            next = Math.min(next, queuePair.nextDeadlineNanos());
        }
        return next;
    }
}
