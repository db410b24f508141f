package io.rdma4j.testkit;

import io.rdma4j.transport.DatagramDestination;
import io.rdma4j.transport.MemoryTable;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.UcQueuePair;
import io.rdma4j.transport.UdQueuePair;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * One host of a {@link VirtualNetwork}: an address, registered memory and queue pairs, driven as a device drives them. A
 * datagram goes to a host or a {@link SimulatedGroup}: it is the {@link io.rdma4j.transport.SendRequest#destination}. Not
 * thread safe.
 */
public final class SimulatedHost implements DatagramDestination {
    private static final int MAX_FRAME_BYTES = 4096 + QueuePairMachine.HEADER_ROOM_BYTES + Packet.ICRC_LENGTH;

    private final VirtualNetwork network;
    private final long high;
    private final long low;
    private final SplittableRandom random;
    private final MemoryTable memory;
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
        this.memory = new MemoryTable(random::nextInt);
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

    /** The host's registered memory. */
    public MemoryTable memory() {
        return memory;
    }

    /** Frames dropped because of their ICRC. */
    public long badChecksums() {
        return badChecksums;
    }

    /** A queue pair number that is not in use on this host. */
    public int unusedQueuePairNumber() {
        int number;
        do {
            number = random.nextInt(2, 0xff_ffff);
        } while (queuePairs.containsKey(number));
        return number;
    }

    /** Adds a queue pair; packets with its number go to it from now on. */
    public void add(QueuePairMachine queuePair) {
        queuePairs.put(queuePair.number(), queuePair);
    }

    /** Takes a queue pair away; packets with its number are dropped from now on. */
    public void remove(QueuePairMachine queuePair) {
        queuePairs.remove(queuePair.number());
    }

    /** Lets every queue pair send what it has. */
    public void transmit() {
        for (QueuePairMachine queuePair : queuePairs.values()) {
            int bytes;
            while ((bytes = queuePair.pollTransmit(network.nowNanos(), outgoing.segment, 0)) > 0) {
                send(queuePair, bytes);
            }
        }
    }

    private void send(QueuePairMachine queuePair, int bytes) {
        outgoing.offset = 0;
        outgoing.length = bytes + Packet.ICRC_LENGTH;
        address(queuePair);
        outgoing.sourcePort = 0xc000 | queuePair.number() & 0x3fff;
        outgoing.identification = 0;
        icrc.seal(outgoing);
        network.send(outgoing);
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

    void onFrame(Frame frame) {
        if (packet.parse(frame) != Packet.Result.OK) {
            unreadableFrames++;
            return;
        }
        SimulatedGroup group = network.findGroup(frame.destinationHigh, frame.destinationLow);
        if (group != null) {
            onGroupFrame(group, frame);
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
        for (QueuePairMachine queuePair : queuePairs.values()) {
            if (queuePair.nextDeadlineNanos() <= network.nowNanos()) {
                queuePair.onDeadline(network.nowNanos());
            }
        }
    }

    long nextDeadlineNanos() {
        long next = Long.MAX_VALUE;
        for (QueuePairMachine queuePair : queuePairs.values()) {
            next = Math.min(next, queuePair.nextDeadlineNanos());
        }
        return next;
    }
}
