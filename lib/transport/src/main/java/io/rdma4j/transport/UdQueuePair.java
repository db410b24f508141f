package io.rdma4j.transport;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Frame;
import io.rdma4j.wire.ImmDt;
import io.rdma4j.wire.IpHeaders;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair of the unreliable datagram service, without I/O. It sends single-packet messages, with or without
 * immediate data, to any queue pair and receives from any sender that knows the queue key. Nothing is acknowledged or
 * retransmitted. A datagram without a receive, or too long for it, is dropped; the receive is kept for the next one.
 *
 * <p>Every receive begins with {@value #ROUTE_HEADER_BYTES} bytes for the IP header, which identifies the sender for a
 * reply: the IPv6 header, or 20 zero bytes and the IPv4 header. They are included in the length of the completion.
 *
 * <p>A send work request that cannot be sent completes with an error and moves the queue pair to
 * {@link QueuePairState#SEND_QUEUE_ERROR}, in which it still receives.
 *
 * <p>A work request whose queue key has its highest bit set is sent with the queue pair's own key. rdma_rxe sends it as
 * posted; see docs/linux-and-the-specification.md.
 *
 * <p>Source: InfiniBand Architecture volume 1, 9.8.3, 10.2.5 and annex A17; RFC 791, RFC 8200.
 */
public final class UdQueuePair extends QueuePairMachine {
    /** Bytes at the start of every receive that hold the IP header. */
    public static final int ROUTE_HEADER_BYTES = 40;

    private final byte[] routeHeader = new byte[ROUTE_HEADER_BYTES];
    private final ByteBuffer routeHeaderBuffer = ByteBuffer.wrap(routeHeader);
    private final MemorySegment routeHeaderSegment = MemorySegment.ofArray(routeHeader);
    private int queueKey;
    private int maxPayloadBytes;
    private int sendPsn;
    private @Nullable DatagramDestination destination;

    /**
     * Creates a queue pair in the state {@link QueuePairState#RESET}.
     *
     * @param number number of the queue pair, 24 bits
     * @param configuration creation parameters
     * @param sendCompletions sink for send completions
     * @param receiveCompletions sink for receive completions; may be the same
     * @param events listener for events
     */
    public UdQueuePair(
            int number,
            Configuration configuration,
            CompletionSink sendCompletions,
            CompletionSink receiveCompletions,
            Events events) {
        super(number, configuration, sendCompletions, receiveCompletions, events);
    }

    @Override
    public @Nullable Peer peer() {
        return null;
    }

    @Override
    long roundTripNanos() {
        return 0;
    }

    @Override
    public Opcode.Transport transport() {
        return Opcode.Transport.UD;
    }

    /** Returns the key that datagrams to this queue pair must carry. */
    public int queueKey() {
        return queueKey;
    }

    /** Sets the key that datagrams to this queue pair must carry; allowed in any state. */
    public void changeQueueKey(int key) {
        queueKey = key;
    }

    /**
     * Moves from INIT to READY_TO_RECEIVE.
     *
     * @param maxBytes maximum payload of a datagram to send, in bytes
     * @throws IllegalArgumentException if it is out of range; the state is unchanged
     */
    public void toReadyToReceive(int maxBytes) {
        require(state() == QueuePairState.INIT, QueuePairState.READY_TO_RECEIVE);
        checkMtu(maxBytes);
        maxPayloadBytes = maxBytes;
        enter(QueuePairState.READY_TO_RECEIVE);
    }

    /**
     * Moves from READY_TO_RECEIVE to READY_TO_SEND.
     *
     * @param psn first PSN to send, 24 bits; receivers ignore it
     * @throws IllegalArgumentException if it is out of range; the state is unchanged
     */
    public void toReadyToSend(int psn) {
        require(state() == QueuePairState.READY_TO_RECEIVE, QueuePairState.READY_TO_SEND);
        check(psn >>> Psn.BITS == 0, "send PSN", psn);
        sendPsn = psn;
        enter(QueuePairState.READY_TO_SEND);
    }

    // ---- receiving ----

    @Override
    boolean isAcceptable(long nowNanos, Packet packet) {
        if (!isReceiving()) {
            counters.badState++;
            return false;
        }
        if (Deth.queueKey(packet.segment(), packet.dethOffset()) != queueKey) {
            counters.badQueueKey++;
            return false;
        }
        return true;
    }

    @Override
    boolean process(long nowNanos, Packet packet) {
        ReceiveRequest receive = Responder.hasRightPad(packet) ? receives.current() : null;
        long bytes = (long) ROUTE_HEADER_BYTES + packet.payloadLength();
        if (receive == null || bytes > receive.list.totalBytes()) {
            counters.droppedMessages++;
            return false;
        }
        writeRouteHeader(packet.frame());
        if (!scatter(receive, 0, routeHeaderSegment, 0, ROUTE_HEADER_BYTES)
                || !scatter(
                        receive,
                        ROUTE_HEADER_BYTES,
                        packet.payloadSegment(),
                        packet.payloadOffset(),
                        packet.payloadLength())) {
            failReceive(receive, CompletionStatus.LOCAL_PROTECTION_ERROR);
            failWith(null);
            return true;
        }
        completeReceive(receive, packet, bytes);
        return true;
    }

    private boolean scatter(ReceiveRequest receive, long to, MemorySegment from, long at, int length) {
        return LocalMemory.scatter(receive.list, receives.protectionDomain(), to, from, at, length);
    }

    private void writeRouteHeader(Frame frame) {
        routeHeaderBuffer.clear();
        if (frame.isIpv4()) {
            // Bytes 0 to 19 are zeroed again, since an IPv6 header may have overwritten them.
            routeHeaderBuffer.putLong(0).putLong(0).putInt(0);
            IpHeaders.writeIpv4(routeHeaderBuffer, frame, Math.max(0, frame.identification));
        } else {
            IpHeaders.writeIpv6(routeHeaderBuffer, frame);
        }
    }

    // ---- sending ----

    @Override
    public int pollTransmit(long nowNanos, MemorySegment out, long at) {
        if (!isReadyToSend() || sendQueue.isEmpty()) {
            return 0;
        }
        SendRequest r = sendQueue.at(sendQueue.head());
        CompletionStatus failure = validate(r);
        if (failure != null) {
            failUnreliableSend(failure);
            return 0;
        }
        Opcode opcode =
                r.opcode == SendOpcode.SEND_WITH_IMMEDIATE ? Opcode.UD_SEND_ONLY_IMMEDIATE : Opcode.UD_SEND_ONLY;
        int length = (int) r.lengthBytes;
        int pad = -length & 3;
        long payloadAt = at + opcode.headerLength();
        if (!PayloadPackets.gather(r, protectionDomain(), 0, length, out, payloadAt)) {
            failUnreliableSend(CompletionStatus.LOCAL_PROTECTION_ERROR);
            return 0;
        }
        Bth.write(out, at, opcode.code(), r.solicited, pad, PARTITION_KEY, r.remoteQueuePair, false, sendPsn);
        Deth.write(out, at + Bth.LENGTH, r.queueKey < 0 ? queueKey : r.queueKey, number());
        if (opcode.hasImmediate()) {
            ImmDt.write(out, payloadAt - ImmDt.LENGTH, r.immediate);
        }
        Padding.clear(out, payloadAt + length, pad);
        sendPsn++;
        counters.sentPackets++;
        destination = r.destination;
        completeSend(r, CompletionStatus.SUCCESS);
        return opcode.headerLength() + length + pad;
    }

    /** Returns the destination of the packet that {@link #pollTransmit} wrote last. */
    public @Nullable DatagramDestination destination() {
        return destination;
    }

    private @Nullable CompletionStatus validate(SendRequest r) {
        if (r.opcode != SendOpcode.SEND && r.opcode != SendOpcode.SEND_WITH_IMMEDIATE || r.destination == null) {
            return CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
        }
        if (r.lengthBytes < 0 || r.lengthBytes > maxPayloadBytes) {
            return CompletionStatus.LOCAL_LENGTH_ERROR;
        }
        return PayloadPackets.checkMemory(r, protectionDomain(), 0);
    }

    @Override
    boolean hasBegun() {
        return false;
    }

    @Override
    public int sendPsn() {
        return sendPsn & Psn.MASK;
    }

    /** Returns 0: datagrams are unordered. */
    @Override
    public int receivePsn() {
        return 0;
    }

    @Override
    public long nextDeadlineNanos() {
        return NEVER;
    }

    /** Does nothing: datagrams have no timers. */
    @Override
    public void onDeadline(long nowNanos) {}

    @Override
    void onError(boolean mayRespond) {}

    @Override
    void onReset() {
        destination = null;
        queueKey = 0;
    }
}
