package io.rdma4j.fuzz;

import io.rdma4j.transport.Completion;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.MemoryTable;
import io.rdma4j.transport.QueuePairEvent;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** A queue pair of a reliable connection, memory regions between canaries, and a scripted peer. */
final class Peering {
    static final int NUMBER = 0x22;
    static final int PEER_NUMBER = 0x11;
    static final int MTU = 256;
    static final int DOMAIN = 7;
    static final int ALL_ACCESS = AccessFlag.LOCAL_WRITE.bit()
            | AccessFlag.REMOTE_WRITE.bit()
            | AccessFlag.REMOTE_READ.bit()
            | AccessFlag.REMOTE_ATOMIC.bit()
            | AccessFlag.FLUSH_GLOBAL.bit()
            | AccessFlag.FLUSH_PERSISTENT.bit();
    static final int REGION_BYTES = 2048;
    static final int CANARY_BYTES = 64;
    private static final byte[] UNTOUCHED = new byte[CANARY_BYTES + REGION_BYTES + CANARY_BYTES];

    /** Capacity of each queue in work requests. */
    static final int SLOTS = 16;

    /** Enough for repeated retransmissions, but few, so that a silent peer does not dominate the run time. */
    private static final int RETRIES = 2;

    static final long ADDRESS = 0x7000_0000_0000L;
    private static final long LOCAL = Gid.ipv4Low(0x0a58_0002);
    private static final long REMOTE = Gid.ipv4Low(0x0a58_0001);

    /** A completion. */
    record Completed(long id, CompletionStatus status, boolean isReceive) {}

    final MemoryTable memory;
    final RcQueuePair queuePair;
    final List<Completed> completions = new ArrayList<>();
    final List<QueuePairEvent> events = new ArrayList<>();
    long now = 1_000_000_000L;

    /** A posted send with its unique ID. */
    record Posted(long id, boolean isSignaled) {}

    /** Work requests posted so far, in order. */
    final List<Posted> sends = new ArrayList<>();

    private final List<Long> postedReceives = new ArrayList<>();

    private final List<byte[]> arrays = new ArrayList<>();
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final byte[] out = new byte[MTU + QueuePairMachine.HEADER_ROOM_BYTES];
    private final MemorySegment outSegment = MemorySegment.ofArray(out);
    private final Frame frame = new Frame();
    private final Packet packet = new Packet();
    private final Frame sentFrame = new Frame();
    private final Packet sent = new Packet();

    static {
        Arrays.fill(UNTOUCHED, (byte) 0xc5);
    }

    Peering(int receivePsn, int sendPsn, int depth) {
        Random keys = new Random(1);
        memory = new MemoryTable(keys::nextInt);
        QueuePairMachine.Configuration c = new QueuePairMachine.Configuration(SLOTS, SLOTS, 4, 4, 64, false, DOMAIN);
        queuePair = new RcQueuePair(NUMBER, c, memory, this::addCompletion, this::addCompletion, events::add);
        queuePair.toInit(ALL_ACCESS);
        queuePair.toReadyToReceive(new RcQueuePair.ReceiveParameters(
                new QueuePairMachine.Peer(0, LOCAL, 0, REMOTE, 0, PEER_NUMBER, 0, 64, 0), MTU, receivePsn, depth, 12));
        queuePair.toReadyToSend(new RcQueuePair.SendParameters(sendPsn, depth, 7, RETRIES, 14, true));
    }

    private void addCompletion(Completion c) {
        completions.add(new Completed(c.workRequestId, c.status, c.isReceive));
    }

    /** Registers memory between canaries. Region {@code i} begins at {@link #ADDRESS} + {@code i} · 2^32. */
    MemoryRegion register(int access, int domain) {
        byte[] array = UNTOUCHED.clone();
        arrays.add(array);
        MemoryRegion region = memory.register(
                MemorySegment.ofArray(array).asSlice(CANARY_BYTES, REGION_BYTES),
                ADDRESS + ((long) regions.size() << 32),
                access,
                domain);
        regions.add(region);
        return region;
    }

    MemoryRegion region(int index) {
        return regions.get(index);
    }

    int regionCount() {
        return regions.size();
    }

    /** Returns whether bytes of a region, relative to its beginning, are unchanged. */
    boolean isUntouched(int region, int from, int to) {
        return Arrays.equals(arrays.get(region), CANARY_BYTES + from, CANARY_BYTES + to, UNTOUCHED, 0, to - from);
    }

    /** Returns whether a region does not contain a byte value. */
    boolean hasNone(int region, byte value) {
        for (byte b : arrays.get(region)) {
            if (b == value) {
                return false;
            }
        }
        return true;
    }

    void checkCanaries() {
        for (int i = 0; i < arrays.size(); i++) {
            Invariant.holds(
                    isUntouched(i, -CANARY_BYTES, 0) && isUntouched(i, REGION_BYTES, REGION_BYTES + CANARY_BYTES),
                    "nothing is written outside a region");
        }
    }

    /** Delivers a packet of the peer to the queue pair, if it can be parsed. */
    void deliver(byte[] datagram) {
        Captures.fill(frame, datagram);
        frame.sourceLow = REMOTE;
        frame.destinationLow = LOCAL;
        if (packet.parse(frame) == Packet.Result.OK) {
            queuePair.onPacket(now, packet);
        }
        Invariant.equal(
                queuePair.counters().processedPackets + queuePair.counters().droppedPackets,
                queuePair.counters().receivedPackets,
                "received = processed + dropped");
    }

    /** Returns the next packet that the queue pair sends, or null if there is none. */
    @Nullable
    Packet poll() {
        int length = queuePair.pollTransmit(now, outSegment, 0);
        if (length == 0) {
            return null;
        }
        Captures.fill(sentFrame, Arrays.copyOf(out, length + Packet.ICRC_LENGTH));
        Invariant.holds(sent.parse(sentFrame) == Packet.Result.OK, "a sent packet can be parsed");
        Invariant.equal(sent.destinationQueuePair(), PEER_NUMBER, "a sent packet is for the peer");
        Invariant.atMost(sent.payloadLength(), MTU, "a sent packet fits the path MTU");
        Invariant.equal(sent.padCount(), -sent.payloadLength() & 3, "a sent packet has correct padding");
        return sent;
    }

    /**
     * Returns the next packet that the queue pair sends, or null if there is none. If congestion delays it, advances
     * the time. The queue pair must have no other timer.
     */
    @Nullable
    Packet pollHeldBack() {
        Packet packet = poll();
        if (packet != null || queuePair.nextDeadlineNanos() == Long.MAX_VALUE) {
            return packet;
        }
        now = Math.max(now, queuePair.nextDeadlineNanos());
        queuePair.onDeadline(now);
        return poll();
    }

    /** Lets the queue pair send all its packets, which must not exceed {@code limit}. */
    void pollAll(int limit) {
        int count = 0;
        while (poll() != null) {
            Invariant.atMost(++count, limit, "packets in a row");
        }
    }

    /**
     * Checks the send completions once nothing is in flight. Every signaled send was completed once and in order, and
     * after the first failure all sends were flushed, signaled or not.
     */
    void checkCompletions() {
        queuePair.flush();
        Invariant.holds(queuePair.sendQueue().isEmpty(), "nothing is left in the send queue");
        int index = 0;
        boolean failed = false;
        for (Completed d : completions) {
            if (d.isReceive()) {
                continue;
            }
            while (!failed && index < sends.size() && sends.get(index).id() != d.id()) {
                Invariant.holds(!sends.get(index).isSignaled(), "every signaled send is completed, in order");
                index++;
            }
            Invariant.holds(
                    index < sends.size() && sends.get(index).id() == d.id(), "a send is completed once, in order");
            boolean isFlushed = d.status() == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR;
            Invariant.holds(!failed || isFlushed, "all sends after a failure are flushed");
            Invariant.holds(
                    d.status() != CompletionStatus.SUCCESS || sends.get(index).isSignaled(),
                    "success is reported only for signaled sends");
            failed |= d.status() != CompletionStatus.SUCCESS;
            index++;
        }
        for (; index < sends.size(); index++) {
            Invariant.holds(!failed && !sends.get(index).isSignaled(), "no send lacks its completion");
        }
    }

    /** Checks that everything posted was completed once and in order, as required in the error state. */
    void checkFlushed() {
        checkCompletions();
        Invariant.holds(queuePair.receiveQueue().isEmpty(), "nothing is left in the receive queue");
        List<Long> receives = completions.stream()
                .filter(Completed::isReceive)
                .map(Completed::id)
                .toList();
        Invariant.holds(receives.equals(postedReceives), "every receive is completed once and in order");
    }

    void postReceive(long id, MemoryRegion region, long offset, long length) {
        var request = queuePair.receiveQueue().claim();
        if (request != null) {
            request.workRequestId = id;
            if (length > 0) {
                request.list.add(region, offset, length);
            }
            queuePair.receiveQueue().publish();
            postedReceives.add(id);
            queuePair.flush();
        }
    }

    /** Returns the opcode with a code. A reserved code is mapped to an opcode of the reliable connection. */
    static Opcode opcode(int code) {
        Opcode opcode = Opcode.of(code);
        return opcode == null ? Objects.requireNonNull(Opcode.of(code % 0x15)) : opcode;
    }
}
