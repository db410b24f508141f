package io.rdma4j.testkit;

import io.rdma4j.transport.MemoryTable;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Icrc;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * One host of a {@link VirtualNetwork}: an address, registered memory and queue pairs, driven as a device drives them.
 * Not thread safe.
 */
public final class SimulatedHost {
    private static final int MAX_FRAME_BYTES = 4096 + QueuePairMachine.HEADER_ROOM_BYTES + Packet.ICRC_LENGTH;

    private final VirtualNetwork network;
    private final long high;
    private final long low;
    private final SplittableRandom random;
    private final MemoryTable memory;
    private final Map<Integer, RcQueuePair> queuePairs = new LinkedHashMap<>();
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
    public void add(RcQueuePair queuePair) {
        queuePairs.put(queuePair.number(), queuePair);
    }

    /** Takes a queue pair away; packets with its number are dropped from now on. */
    public void remove(RcQueuePair queuePair) {
        queuePairs.remove(queuePair.number());
    }

    /** Lets every queue pair send what it has. */
    public void transmit() {
        for (RcQueuePair queuePair : queuePairs.values()) {
            int bytes;
            while ((bytes = queuePair.pollTransmit(network.nowNanos(), outgoing.segment, 0)) > 0) {
                send(queuePair, bytes);
            }
        }
    }

    private void send(RcQueuePair queuePair, int bytes) {
        RcQueuePair.ReceiveParameters parameters = queuePair.receiveParameters();
        if (parameters == null) {
            throw new AssertionError("a queue pair without a peer has sent a packet");
        }
        outgoing.offset = 0;
        outgoing.length = bytes + Packet.ICRC_LENGTH;
        outgoing.destinationHigh = parameters.peer().remoteHigh();
        outgoing.destinationLow = parameters.peer().remoteLow();
        outgoing.sourcePort = 0xc000 | queuePair.number() & 0x3fff;
        outgoing.identification = 0;
        icrc.seal(outgoing);
        network.send(outgoing);
    }

    void onFrame(Frame frame) {
        if (packet.parse(frame) != Packet.Result.OK) {
            unreadableFrames++;
            return;
        }
        RcQueuePair queuePair = queuePairs.get(packet.destinationQueuePair());
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

    /** Frames that could not be read, or were for nobody. */
    public long strayFrames() {
        return unreadableFrames + unknownQueuePairs;
    }

    void runDeadlines() {
        for (RcQueuePair queuePair : queuePairs.values()) {
            if (queuePair.nextDeadlineNanos() <= network.nowNanos()) {
                queuePair.onDeadline(network.nowNanos());
            }
        }
    }

    long nextDeadlineNanos() {
        long next = Long.MAX_VALUE;
        for (RcQueuePair queuePair : queuePairs.values()) {
            next = Math.min(next, queuePair.nextDeadlineNanos());
        }
        return next;
    }
}
