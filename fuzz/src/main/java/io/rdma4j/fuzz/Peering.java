package io.rdma4j.fuzz;

import io.rdma4j.transport.AccessFlags;
import io.rdma4j.transport.Completion;
import io.rdma4j.transport.MemoryRegion;
import io.rdma4j.transport.MemoryTable;
import io.rdma4j.transport.QueuePairEvent;
import io.rdma4j.transport.QueuePairMachine;
import io.rdma4j.transport.RcQueuePair;
import io.rdma4j.transport.WorkStatus;
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

/** A queue pair of the reliable connection, memory with canaries around it, and a peer that a script plays. */
final class Peering {
    static final int NUMBER = 0x22;
    static final int PEER_NUMBER = 0x11;
    static final int MTU = 256;
    static final int DOMAIN = 7;
    static final int ALL_ACCESS =
            AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_ATOMIC;
    static final int REGION_BYTES = 2048;
    static final int CANARY_BYTES = 64;
    private static final byte[] UNTOUCHED = new byte[CANARY_BYTES + REGION_BYTES + CANARY_BYTES];

    /** Work requests that may be posted. */
    static final int PLACES = 16;

    /** Enough to repeat a repetition, few enough that a peer who falls silent is not most of what an input costs. */
    private static final int RETRIES = 2;

    static final long ADDRESS = 0x7000_0000_0000L;
    private static final long LOCAL = Frame.ipv4Low(0x0a58_0002);
    private static final long REMOTE = Frame.ipv4Low(0x0a58_0001);

    /** What became of a work request. */
    record Done(long id, WorkStatus status, boolean isReceive) {}

    final MemoryTable memory;
    final RcQueuePair queuePair;
    final List<Done> done = new ArrayList<>();
    final List<QueuePairEvent> events = new ArrayList<>();
    long now = 1_000_000_000L;

    /** A send as it was posted; no two have the same number. */
    record Posted(long id, boolean isSignaled) {}

    /** Work requests posted so far, in order. */
    final List<Posted> sends = new ArrayList<>();

    private final List<Long> postedReceives = new ArrayList<>();

    private final List<byte[]> arrays = new ArrayList<>();
    private final List<MemoryRegion> regions = new ArrayList<>();
    private final byte[] out = new byte[MTU + QueuePairMachine.HEADER_ROOM_BYTES];
    private final MemorySegment room = MemorySegment.ofArray(out);
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
        QueuePairMachine.Configuration c = new QueuePairMachine.Configuration(PLACES, PLACES, 4, 4, 64, false, DOMAIN);
        queuePair = new RcQueuePair(NUMBER, c, memory, this::take, this::take, events::add);
        queuePair.toInit(ALL_ACCESS);
        queuePair.toReadyToReceive(new RcQueuePair.ReceiveParameters(
                new QueuePairMachine.Peer(0, LOCAL, 0, REMOTE, 0, PEER_NUMBER, 0, 64, 0), MTU, receivePsn, depth, 12));
        queuePair.toReadyToSend(new RcQueuePair.SendParameters(sendPsn, depth, 7, RETRIES, 14, true));
    }

    private void take(Completion c) {
        done.add(new Done(c.workRequestId, c.status, c.isReceive));
    }

    /** Registers memory between canaries; region {@code i} begins at {@link #ADDRESS} + {@code i} · 2^32. */
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

    /** Whether bytes of a region, relative to its beginning, are as they were at first. */
    boolean isUntouched(int region, int from, int to) {
        return Arrays.equals(arrays.get(region), CANARY_BYTES + from, CANARY_BYTES + to, UNTOUCHED, 0, to - from);
    }

    /** Whether a byte is nowhere in a region. */
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
            Law.holds(
                    isUntouched(i, -CANARY_BYTES, 0) && isUntouched(i, REGION_BYTES, REGION_BYTES + CANARY_BYTES),
                    "nothing is written beside a region");
        }
    }

    /** Gives a packet of the peer to the queue pair, if it can be read. */
    void deliver(byte[] datagram) {
        Captures.hold(frame, datagram);
        frame.sourceLow = REMOTE;
        frame.destinationLow = LOCAL;
        if (packet.parse(frame) == Packet.Result.OK) {
            queuePair.onPacket(now, packet);
        }
        Law.equal(
                queuePair.counters().processedPackets + queuePair.counters().droppedPackets,
                queuePair.counters().receivedPackets,
                "received = processed + dropped");
    }

    /** The next packet that the queue pair sends, or null if there is none. */
    @Nullable
    Packet poll() {
        int length = queuePair.pollTransmit(now, room, 0);
        if (length == 0) {
            return null;
        }
        Captures.hold(sentFrame, Arrays.copyOf(out, length + Packet.ICRC_LENGTH));
        Law.holds(sent.parse(sentFrame) == Packet.Result.OK, "what is sent can be read");
        Law.equal(sent.destinationQueuePair(), PEER_NUMBER, "what is sent is for the peer");
        Law.atMost(sent.payloadLength(), MTU, "what is sent fits the path");
        Law.equal(sent.padCount(), -sent.payloadLength() & 3, "what is sent has the right padding");
        return sent;
    }

    /** Lets the queue pair send all that it has; its answers are bounded by what was asked. */
    void pollAll(int limit) {
        int count = 0;
        while (poll() != null) {
            Law.atMost(++count, limit, "packets in a row");
        }
    }

    /**
     * Once nothing is under way any more: every work request that asked for it was completed once and in order, and behind the
     * first failure all were flushed, whether they asked or not.
     */
    void checkCompletions() {
        queuePair.flush();
        Law.holds(queuePair.sendQueue().isEmpty(), "nothing is left in the send queue");
        int at = 0;
        boolean failed = false;
        for (Done d : done) {
            if (d.isReceive()) {
                continue;
            }
            while (!failed && at < sends.size() && sends.get(at).id() != d.id()) {
                Law.holds(!sends.get(at).isSignaled(), "every send that asked for it is completed, in order");
                at++;
            }
            Law.holds(at < sends.size() && sends.get(at).id() == d.id(), "a send is completed once, in order");
            boolean isFlushed = d.status() == WorkStatus.WORK_REQUEST_FLUSHED_ERROR;
            Law.holds(!failed || isFlushed, "behind a failure all is flushed");
            Law.holds(
                    d.status() != WorkStatus.SUCCESS || sends.get(at).isSignaled(), "success is reported if asked for");
            failed |= d.status() != WorkStatus.SUCCESS;
            at++;
        }
        for (; at < sends.size(); at++) {
            Law.holds(!failed && !sends.get(at).isSignaled(), "no send is without its completion");
        }
    }

    /** In the error state everything that was posted is completed, once and in order. */
    void checkFlushed() {
        checkCompletions();
        Law.holds(queuePair.receiveQueue().isEmpty(), "nothing is left in the receive queue");
        List<Long> receives =
                done.stream().filter(Done::isReceive).map(Done::id).toList();
        Law.holds(receives.equals(postedReceives), "every receive is completed once and in order");
    }

    void postReceive(long id, MemoryRegion region, long offset, long length) {
        var place = queuePair.receiveQueue().claim();
        if (place != null) {
            place.workRequestId = id;
            if (length > 0) {
                place.list.add(region, offset, length);
            }
            queuePair.receiveQueue().publish();
            postedReceives.add(id);
            queuePair.flush();
        }
    }

    /** The opcode of a byte; a reserved one becomes one of the reliable connection. */
    static Opcode opcode(int code) {
        Opcode opcode = Opcode.of(code);
        return opcode == null ? Objects.requireNonNull(Opcode.of(code % 0x15)) : opcode;
    }
}
