package io.rdma4j.fuzz;

import io.rdma4j.transport.SendRequest;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import io.rdma4j.wire.Reth;
import io.rdma4j.wire.Wire;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * F3: the requester of a reliable connection, whose peer responds arbitrarily.
 *
 * <p>Only memory that a response may be written to changes. Only work requests that were sent succeed. When the peer
 * finally becomes silent, every work request is completed once and in order.
 */
public final class RequesterTarget implements FuzzTarget {
    private static final int FIRST_PSN = 0xff_fff0;
    private static final int SINK = 0;
    private static final int SOURCE = 1;
    private static final int READ_ONLY = 2;
    private static final byte PAYLOAD = 0x5a;
    private static final byte PADDING = (byte) 0xee;
    private static final int MAX_BURST = 4096;
    private static final int MAX_DEADLINES = 4096;

    /** The operations by their numbers in the inputs. */
    private static final List<SendOpcode> OPCODES = List.of(
            SendOpcode.SEND,
            SendOpcode.SEND_WITH_IMMEDIATE,
            SendOpcode.SEND_WITH_INVALIDATE,
            SendOpcode.RDMA_WRITE,
            SendOpcode.RDMA_WRITE_WITH_IMMEDIATE,
            SendOpcode.RDMA_READ,
            SendOpcode.COMPARE_AND_SWAP,
            SendOpcode.FETCH_AND_ADD,
            SendOpcode.FLUSH,
            SendOpcode.ATOMIC_WRITE,
            SendOpcode.BIND_MEMORY_WINDOW,
            SendOpcode.LOCAL_INVALIDATE);

    private static final Opcode[] RESPONSES = {
        Opcode.RC_ACKNOWLEDGE,
        Opcode.RC_READ_RESPONSE_ONLY,
        Opcode.RC_READ_RESPONSE_FIRST,
        Opcode.RC_READ_RESPONSE_MIDDLE,
        Opcode.RC_READ_RESPONSE_LAST,
        Opcode.RC_ATOMIC_ACKNOWLEDGE,
        Opcode.CONGESTION_NOTIFICATION
    };

    /** A sent request that the peer may respond to correctly, and the number of messages sent until then. */
    private record SentRequest(Opcode opcode, int psn, int length, int messages) {}

    /** True if all packets so far were built by {@link #packet}. */
    private boolean isShaped;

    /** Number of messages sent, and the PSN after the last of them. */
    private int messages;

    private int messagesEnd;

    /** Creates the target. */
    public RequesterTarget() {}

    @Override
    public void run(byte[] input) {
        Script script = new Script(input);
        Peering side = new Peering(0x100, FIRST_PSN, 1 + script.choice(4));
        side.register(Peering.ALL_ACCESS, Peering.DOMAIN);
        side.register(AccessFlag.REMOTE_READ.bit(), Peering.DOMAIN);
        side.register(AccessFlag.REMOTE_READ.bit(), Peering.DOMAIN);
        isShaped = true;
        messages = 0;
        messagesEnd = FIRST_PSN;
        Deque<SentRequest> pending = new ArrayDeque<>();
        while (!script.isAtEnd()) {
            step(script, side, pending);
        }
        exhaustRetries(side);
        side.checkCanaries();
        Invariant.holds(!isShaped || side.hasNone(SINK, PADDING), "only the payload of responses is written to memory");
        Invariant.holds(side.isUntouched(SOURCE, 0, Peering.REGION_BYTES), "the source memory is unchanged");
        Invariant.holds(
                side.isUntouched(READ_ONLY, 0, Peering.REGION_BYTES), "memory without write access is unchanged");
        side.checkCompletions();
        if (side.queuePair.state() == QueuePairState.ERROR) {
            side.checkFlushed();
        }
    }

    private void step(Script script, Peering side, Deque<SentRequest> pending) {
        switch (script.choice(8)) {
            case 0 -> {
                side.deliver(raw(script, side));
                isShaped = false;
            }
            case 1, 2 -> side.deliver(nearlyCorrectResponse(script, side, pending.peek()));
            case 3 -> respondCorrectly(side, pending);
            case 4 -> post(script, side);
            case 5 -> {
                Packet sent;
                for (int count = 0; (sent = side.poll()) != null; count++) {
                    recordSent(sent, pending);
                    Invariant.atMost(count, MAX_BURST, "packets in a row");
                }
            }
            case 6 -> {
                Packet sent = side.poll();
                if (sent != null) {
                    recordSent(sent, pending);
                }
            }
            default -> {
                side.now += script.u16() * 10_000L;
                side.queuePair.onDeadline(side.now);
            }
        }
        Invariant.holds(
                side.queuePair.sendPsn() != FIRST_PSN
                        || side.queuePair.counters().sentPackets > 0
                        || side.completions.stream().noneMatch(d -> d.status() == CompletionStatus.SUCCESS),
                "no work request succeeds before a packet was sent");
    }

    private void recordSent(Packet sent, Deque<SentRequest> pending) {
        boolean isRead = sent.opcode().isRead();
        int length = isRead ? Reth.dmaLength(sent.segment(), sent.rethOffset()) : sent.payloadLength();
        if (Psn.distance(sent.psn(), messagesEnd) >= 0) {
            messagesEnd = Psn.plus(sent.psn(), isRead ? Math.max(1, (length + Peering.MTU - 1) / Peering.MTU) : 1);
            messages += sent.opcode().isLast() ? 1 : 0;
        }
        pending.add(new SentRequest(sent.opcode(), sent.psn(), length, messages));
        if (pending.size() > 64) {
            pending.remove();
        }
    }

    private static void post(Script script, Peering side) {
        SendRequest r = side.queuePair.sendQueue().claim();
        if (r == null) {
            return;
        }
        int flags = script.u8();
        r.workRequestId = side.sends.size();
        r.opcode = OPCODES.get(script.choice(OPCODES.size()));
        r.signaled = (flags & 1) != 0;
        r.fence = (flags & 2) != 0;
        r.remoteAddress = Peering.ADDRESS;
        r.remoteKey = 0x1234;
        r.flushPlacement = flags >> 5;
        r.flushBytes = (flags & 4) == 0 ? flags : Long.MAX_VALUE;
        boolean isRight = (flags & 4) == 0;
        long length = r.opcode.isAtomic() && isRight
                ? Long.BYTES
                : r.opcode.needsResponse() && !r.opcode.hasLocalMemory() && isRight
                        ? 0
                        : script.u16() % (Peering.REGION_BYTES + 1);
        if ((flags & 8) != 0) {
            r.inline = true;
            r.lengthBytes = length % 65;
        } else {
            int region = r.opcode.needsResponse() ? (flags & 16) == 0 ? SINK : READ_ONLY : SOURCE;
            long half = length / 2;
            if (length > 0) {
                r.list.add(side.region(region), 0, half);
                r.list.add(side.region(region), half, length - half);
            }
            r.lengthBytes = length;
        }
        side.sends.add(new Peering.Posted(r.workRequestId, r.signaled));
        side.queuePair.sendQueue().publish();
        side.queuePair.flush();
    }

    private static byte[] raw(Script script, Peering side) {
        int distance = script.near();
        byte[] datagram = script.run();
        if (datagram.length >= Bth.LENGTH && distance != Byte.MAX_VALUE) {
            Wire.u24(MemorySegment.ofArray(datagram), 9, Psn.plus(side.queuePair.sendPsn(), distance));
        }
        return datagram;
    }

    /** Builds a response that is nearly correct: to the oldest pending request, or near the newest PSN. */
    private byte[] nearlyCorrectResponse(Script script, Peering side, @Nullable SentRequest oldest) {
        Opcode opcode = RESPONSES[script.choice(RESPONSES.length)];
        int flags = script.u8();
        int from = side.queuePair.sendPsn();
        int expectedLength = Peering.MTU;
        if (oldest != null && (flags & 1) == 0) {
            from = oldest.psn();
            expectedLength = Math.min(oldest.length(), Peering.MTU);
        }
        int psn = Psn.plus(from, script.near());
        int syndrome = script.u8();
        int length = Math.clamp(expectedLength + ((flags & 2) == 0 ? script.near() : 0L), 0, 2 * Peering.MTU);
        int messageCount = messages + ((flags & 4) == 0 ? 0 : script.near());
        return packet(opcode, psn, syndrome, messageCount, opcode.isRead() ? length : 0);
    }

    private static byte[] packet(Opcode opcode, int psn, int syndrome, int messageCount, int length) {
        byte[] datagram = new byte[opcode.headerLength() + length + (-length & 3) + Packet.ICRC_LENGTH];
        MemorySegment s = MemorySegment.ofArray(datagram);
        Bth.write(s, 0, opcode.code(), false, -length & 3, 0xffff, Peering.NUMBER, false, psn);
        if (opcode.hasAeth()) {
            Aeth.write(s, Bth.LENGTH, syndrome, messageCount & Psn.MASK);
        }
        Arrays.fill(datagram, opcode.headerLength(), opcode.headerLength() + length, PAYLOAD);
        Arrays.fill(datagram, opcode.headerLength() + length, datagram.length, PADDING);
        return datagram;
    }

    /** Lets the peer respond correctly to the oldest pending request. */
    private static void respondCorrectly(Peering side, Deque<SentRequest> pending) {
        SentRequest oldest = pending.poll();
        if (oldest == null) {
            return;
        }
        if (oldest.opcode().isAtomic()) {
            side.deliver(packet(Opcode.RC_ATOMIC_ACKNOWLEDGE, oldest.psn(), Aeth.ACK, oldest.messages(), 0));
        } else if (oldest.opcode().needsResponse() && !oldest.opcode().isRead()) { // FLUSH, ATOMIC WRITE
            side.deliver(packet(Opcode.RC_READ_RESPONSE_ONLY, oldest.psn(), Aeth.ACK, oldest.messages(), 0));
        } else if (oldest.opcode().isRead()) {
            int packets = Math.max(1, (oldest.length() + Peering.MTU - 1) / Peering.MTU);
            for (int i = 0; i < packets; i++) {
                boolean isLast = i == packets - 1;
                Opcode opcode = i == 0
                        ? isLast ? Opcode.RC_READ_RESPONSE_ONLY : Opcode.RC_READ_RESPONSE_FIRST
                        : isLast ? Opcode.RC_READ_RESPONSE_LAST : Opcode.RC_READ_RESPONSE_MIDDLE;
                int length = isLast ? oldest.length() - i * Peering.MTU : Peering.MTU;
                side.deliver(packet(opcode, Psn.plus(oldest.psn(), i), Aeth.ACK, oldest.messages(), length));
            }
        } else {
            side.deliver(packet(Opcode.RC_ACKNOWLEDGE, oldest.psn(), Aeth.ACK, oldest.messages(), 0));
        }
    }

    /** Lets the peer stop responding: the requester retransmits until its retry count is exceeded. */
    private static void exhaustRetries(Peering side) {
        side.pollAll(MAX_BURST);
        for (int i = 0; side.queuePair.nextDeadlineNanos() != Long.MAX_VALUE; i++) {
            Invariant.atMost(i, MAX_DEADLINES, "deadlines until the retry count is exceeded");
            side.now = Math.max(side.now, side.queuePair.nextDeadlineNanos());
            side.queuePair.onDeadline(side.now);
            side.pollAll(MAX_BURST);
        }
    }

    @Override
    public Stream<byte[]> seeds() {
        Stream<byte[]> captured = Stream.of("all", "badlen", "rnr").map(name -> {
            ScriptWriter seed = new ScriptWriter().u8(3);
            for (SendOpcode opcode : OPCODES) {
                seed.u8(4, 1, OPCODES.indexOf(opcode)).u16(1000).u8(5);
            }
            int psn = 0;
            for (Frame frame : Captures.frames(name)) {
                byte[] bytes = Captures.payload(frame);
                Opcode opcode = Opcode.of(bytes[0] & 0xff);
                if (opcode != null && opcode.isResponse()) {
                    seed.u8(0, psn++ - 20).run(bytes);
                }
            }
            return seed.bytes();
        });
        Stream<byte[]> generated = OPCODES.stream().map(opcode -> {
            ScriptWriter seed = new ScriptWriter().u8(1);
            for (int i = 0; i < 3; i++) {
                seed.u8(4, i, OPCODES.indexOf(opcode)).u16(i * 700);
            }
            return seed.u8(5, 1, 2, 2, 0, 0x1f, 3, 5) // the correct beginning of the response, and its remainder
                    .u8(1, 1, 2, 0, 0x1f, 1, 0, 1, 0xff, 0x60, 0, 7)
                    .u16(9000)
                    .u8(5, 3, 3, 6, 3, 5)
                    .u8(1, 0, 1, 0xff, 0x20, 0, 5, 7)
                    .u16(500)
                    .u8(5, 3)
                    .bytes();
        });
        return Stream.concat(captured, generated);
    }
}
