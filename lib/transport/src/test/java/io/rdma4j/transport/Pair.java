package io.rdma4j.transport;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Ecn;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.PriorityQueue;
import java.util.Random;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Two queue pairs, a wire whose faults the test chooses, and a clock that advances to the next event. */
final class Pair {
    static final long LATENCY_NANOS = 1_000;
    static final int PD = 7;
    static final int ALL_ACCESS = AccessFlag.LOCAL_WRITE.bit()
            | AccessFlag.REMOTE_WRITE.bit()
            | AccessFlag.REMOTE_READ.bit()
            | AccessFlag.REMOTE_ATOMIC.bit()
            | AccessFlag.FLUSH_GLOBAL.bit()
            | AccessFlag.FLUSH_PERSISTENT.bit();

    /** A packet on the wire. */
    @SuppressWarnings("ArrayRecordComponent") // compared by identity only
    record WirePacket(
            boolean fromA, int number, Opcode opcode, int psn, boolean ackRequest, byte[] bytes, long sentAt) {
        MemorySegment segment() {
            return MemorySegment.ofArray(bytes);
        }

        int syndrome() {
            return bytes[Bth.LENGTH] & 0xff;
        }

        @Override
        public String toString() {
            String name = opcode.name().substring(3);
            String aeth = opcode == Opcode.RC_ACKNOWLEDGE ? " " + Integer.toHexString(syndrome()) : "";
            return (fromA ? "A " : "B ") + name + " " + psn + aeth;
        }
    }

    private record InFlight(long at, long order, WirePacket packet) {}

    /** Chooses the delay in nanoseconds of each copy of a packet that arrives; an empty list is a loss. */
    interface Wire extends Function<WirePacket, List<Long>> {}

    /** A completion as a value. */
    record Done(
            long id,
            CompletionStatus status,
            boolean isReceive,
            SendOpcode opcode,
            boolean ofWrite,
            long bytes,
            boolean hasImmediate,
            int immediate,
            boolean solicited) {}

    /** Decides which packets of a sender that reacts to congestion marks are marked on their way. */
    Predicate<WirePacket> marks = packet -> false;

    /** One side of the connection, with its memory and completions. */
    static final class Side {
        final boolean isA;
        final MemoryTable memory;
        final RcQueuePair queuePair;

        /** Called with each receive completion. */
        CompletionSink onReceive = c -> {};

        final List<Done> done = new ArrayList<>();
        final List<QueuePairEvent> events = new ArrayList<>();
        final long high;
        final long low;

        /** Source UDP port of its packets. */
        int udpPort;

        Side(boolean isA, QueuePairMachine.Configuration c, RcQueuePair.Role role) {
            this.isA = isA;
            Random keys = new Random(isA ? 1 : 2);
            memory = new MemoryTable(keys::nextInt);
            udpPort = isA ? 49_152 : 49_153;
            low = Gid.ipv4Low(isA ? 0x0a58_0001 : 0x0a58_0002);
            high = 0;
            queuePair = new RcQueuePair(role, isA ? 0x11 : 0x22, c, memory, this::take, this::take, events::add);
        }

        private void take(Completion c) {
            if (c.isReceive) {
                onReceive.onCompletion(c);
            }
            done.add(new Done(
                    c.workRequestId,
                    c.status,
                    c.isReceive,
                    c.opcode,
                    c.isReceiveOfWrite,
                    c.byteLength,
                    c.hasImmediate,
                    c.immediate,
                    c.solicited));
        }

        MemoryRegion register(int bytes) {
            return register(new byte[bytes], ALL_ACCESS);
        }

        MemoryRegion register(byte[] bytes, int access) {
            return memory.register(MemorySegment.ofArray(bytes), 0x7000_0000_0000L + (isA ? 0 : 1L << 32), access, PD);
        }

        SendRequest claim(long id, SendOpcode opcode) {
            SendRequest r = Objects.requireNonNull(queuePair.sendQueue().claim());
            r.workRequestId = id;
            r.opcode = opcode;
            r.signaled = true;
            return r;
        }

        void publish(SendRequest r) {
            if (!r.inline) {
                r.lengthBytes = r.list.totalBytes();
            }
            queuePair.sendQueue().publish();
        }

        void post(long id, SendOpcode opcode, MemoryRegion region, long offset, long length) {
            SendRequest r = claim(id, opcode);
            r.list.add(region, offset, length);
            publish(r);
        }

        void post(long id, SendOpcode opcode, MemoryRegion local, long length, MemoryRegion remote, long remoteOffset) {
            SendRequest r = claim(id, opcode);
            if (length > 0) {
                r.list.add(local, 0, length);
            }
            r.remoteKey = remote.key();
            r.remoteAddress = remote.address() + remoteOffset;
            r.immediate = (int) id;
            publish(r);
        }

        void postReceive(long id, MemoryRegion region, long offset, long length) {
            ReceiveRequest r = Objects.requireNonNull(queuePair.receiveQueue().claim());
            r.workRequestId = id;
            r.list.add(region, offset, length);
            queuePair.receiveQueue().publish();
        }

        List<CompletionStatus> statuses(boolean receives) {
            return done.stream()
                    .filter(d -> d.isReceive() == receives)
                    .map(Done::status)
                    .toList();
        }

        List<Long> ids(boolean receives) {
            return done.stream()
                    .filter(d -> d.isReceive() == receives)
                    .map(Done::id)
                    .toList();
        }
    }

    /** Parameters of a pair. */
    static final class Options {
        int mtu = 1024;
        int psnA = 0x1000;
        int psnB = 0x2000;
        int depth = 4;
        int destinationDepth = 4;
        int retryCount = 7;
        int rnrRetry = 7;
        int timeoutExponent = 14;
        boolean tailLossProbes;
        int rnrCode = 12;
        int accessA = ALL_ACCESS;
        int accessB = ALL_ACCESS;
        boolean signalAll;
        int requests = 64;
        CongestionMarks congestionMarksA = CongestionMarks.LEARN;

        /** Shared receive queue of B, or {@code null} if B has a separate receive queue. */
        @Nullable
        SharedReceiveQueue sharedB;

        /** If not {@code null}, A is the initiator and B the target of an extended connection. */
        @Nullable
        XrcDomain domainB;
    }

    final Options options;
    final Side a;
    final Side b;
    final List<WirePacket> trace = new ArrayList<>();
    long now = 1_000_000_000L;

    /** Number of packets that a side sends before the other side and the wire are run. */
    int burst = Integer.MAX_VALUE;

    private boolean isHeldBack;
    Wire wire = w -> List.of(LATENCY_NANOS);
    private final PriorityQueue<InFlight> inFlight =
            new PriorityQueue<>(Comparator.comparingLong(InFlight::at).thenComparingLong(InFlight::order));
    private final byte[] out = new byte[4096 + QueuePairMachine.HEADER_ROOM_BYTES];
    private final Packet packet = new Packet();
    private long order;
    private int numberA;
    private int numberB;

    Pair() {
        this(new Options());
    }

    Pair(Options o) {
        options = o;
        QueuePairMachine.Configuration c =
                new QueuePairMachine.Configuration(o.requests, o.requests, 8, 8, 256, o.signalAll, PD);
        boolean isExtended = o.domainB != null;
        a = new Side(true, c, isExtended ? RcQueuePair.Role.INITIATOR : RcQueuePair.Role.CONNECTED);
        b = new Side(
                false,
                new QueuePairMachine.Configuration(
                        o.requests, o.requests, 8, 8, 256, o.signalAll, PD, o.sharedB, o.domainB),
                isExtended ? RcQueuePair.Role.TARGET : RcQueuePair.Role.CONNECTED);
        a.queuePair.congestionMarks(o.congestionMarksA);
        connect(a, b, o.psnB, o.psnA, o.accessA);
        connect(b, a, o.psnA, o.psnB, o.accessB);
    }

    private void connect(Side side, Side peer, int receivePsn, int sendPsn, int access) {
        side.queuePair.toInit(access);
        side.queuePair.toReadyToReceive(new RcQueuePair.ReceiveParameters(
                new QueuePairMachine.Peer(
                        side.high, side.low, peer.high, peer.low, 0, peer.queuePair.number(), 0, 64, 0),
                options.mtu,
                receivePsn,
                options.destinationDepth,
                options.rnrCode));
        side.queuePair.toReadyToSend(new RcQueuePair.SendParameters(
                sendPsn,
                options.depth,
                options.retryCount,
                options.rnrRetry,
                options.timeoutExponent,
                options.tailLossProbes));
    }

    /** Sends all packets that can be sent now. */
    void pump() {
        pump(a);
        pump(b);
    }

    /** Sends all packets that one side can send now, at most a burst. */
    void pump(Side side) {
        side.queuePair.flush();
        int length;
        MemorySegment room = MemorySegment.ofArray(out);
        for (int sent = 0; ; sent++) {
            if (sent >= burst) {
                isHeldBack = true;
                return;
            }
            length = side.queuePair.pollTransmit(now, room, 0);
            if (length == 0) {
                return;
            }
            byte[] bytes = Arrays.copyOf(out, length + Packet.ICRC_LENGTH);
            int number = side.isA ? ++numberA : ++numberB;
            Opcode opcode = Objects.requireNonNull(Opcode.of(Bth.opcode(room, 0)));
            send(new WirePacket(
                    side.isA, number, opcode, Bth.psn(room, 0), Bth.acknowledgeRequest(room, 0), bytes, now));
        }
    }

    private void send(WirePacket w) {
        trace.add(w);
        for (long delay : wire.apply(w)) {
            inFlight.add(new InFlight(now + delay, order++, w));
        }
    }

    /** Drops all packets that are in flight. */
    void dropAllInFlight() {
        inFlight.clear();
    }

    /** Delivers a packet to its destination. */
    void deliver(WirePacket w) {
        deliver(w, (w.fromA() ? b : a).queuePair);
    }

    /** Delivers a packet to a queue pair instead of its destination. */
    void deliver(WirePacket w, RcQueuePair queuePair) {
        Side from = w.fromA() ? a : b;
        Side to = w.fromA() ? b : a;
        Frame f = new Frame();
        f.segment = MemorySegment.ofArray(w.bytes());
        f.buffer = ByteBuffer.wrap(w.bytes());
        f.length = w.bytes().length;
        f.sourceHigh = from.high;
        f.sourceLow = from.low;
        f.sourcePort = from.udpPort;
        f.destinationHigh = to.high;
        f.destinationLow = to.low;
        if (from.queuePair.isCongestionCapable()) {
            f.trafficClass = marks.test(w) ? Ecn.MARKED : Ecn.CAPABLE;
        }
        if (packet.parse(f) != Packet.Result.OK) {
            throw new AssertionError("malformed packet: " + w);
        }
        queuePair.onPacket(now, packet);
    }

    /** Runs until nothing is in flight and no deadline is set, at most until the given time. */
    void run(long untilNanos) {
        for (int steps = 0; ; steps++) {
            if (steps > 5_000_000) {
                throw new AssertionError("too many steps");
            }
            isHeldBack = false;
            pump();
            long next = isHeldBack ? now + LATENCY_NANOS / 2 : Long.MAX_VALUE;
            next = Math.min(next, Math.min(a.queuePair.nextDeadlineNanos(), b.queuePair.nextDeadlineNanos()));
            InFlight first = inFlight.peek();
            if (first != null) {
                next = Math.min(next, first.at());
            }
            if (next > untilNanos) {
                return;
            }
            now = Math.max(now, next);
            while ((first = inFlight.peek()) != null && first.at() <= now) {
                inFlight.remove();
                deliver(first.packet());
            }
            if (inFlight.isEmpty() || inFlight.peek().at() > now) {
                fireDeadline(a);
                fireDeadline(b);
            }
        }
    }

    private void fireDeadline(Side side) {
        if (side.queuePair.nextDeadlineNanos() <= now) {
            side.queuePair.onDeadline(now);
        }
    }

    /** Runs until nothing is in flight and no deadline is set. */
    void run() {
        run(Long.MAX_VALUE - 1);
    }

    List<String> traceLines() {
        return trace.stream().map(WirePacket::toString).toList();
    }

    long sent(boolean fromA, Opcode opcode) {
        return trace.stream()
                .filter(w -> w.fromA() == fromA && w.opcode() == opcode)
                .count();
    }

    /** Returns a hand-made packet from A to B, or from B to A. */
    static WirePacket forge(boolean fromA, Opcode opcode, int psn, boolean ackRequest, int payload) {
        int pad = -payload & 3;
        byte[] bytes = new byte[opcode.headerLength() + payload + pad + Packet.ICRC_LENGTH];
        MemorySegment s = MemorySegment.ofArray(bytes);
        Bth.write(s, 0, opcode.code(), false, pad, 0xffff, fromA ? 0x22 : 0x11, ackRequest, psn & Psn.MASK);
        return new WirePacket(fromA, 0, opcode, psn & Psn.MASK, ackRequest, bytes, 0);
    }

    static byte[] pattern(int length, int seed) {
        byte[] bytes = new byte[length];
        new Random(seed).nextBytes(bytes);
        return bytes;
    }
}
