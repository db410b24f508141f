package io.rdma4j.transport;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.AtomicAckEth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * Processes responses to the {@link Requester}: acknowledgements, READ data, atomic results, responses to FLUSH and ATOMIC WRITE,
 * and NAKs.
 */
final class Completer {
    private final RcQueuePair queuePair;
    private final Requester requester;
    private final SendWindow window;
    private final SendQueue queue;
    private final QueuePairCounters counters;

    /** Holds the result of an atomic while it is scattered; created on first use. */
    private @Nullable MemorySegment scratch;

    Completer(RcQueuePair queuePair, Requester requester, SendQueue queue, QueuePairCounters counters) {
        this.queuePair = queuePair;
        this.requester = requester;
        window = requester.window();
        this.queue = queue;
        this.counters = counters;
    }

    /** Processes a response. Returns whether it was valid. */
    boolean onResponse(long nowNanos, Packet packet) {
        long unacked = window.unacked();
        int distance = Psn.distance(packet.psn(), (int) unacked & Psn.MASK);
        long sequence = unacked + distance;
        if (sequence < unacked || sequence >= window.sentEnd()) {
            boolean _ = queuePair.peerCheck.isOutOfWindow(nowNanos, distance);
            return onUnexpectedResponse();
        }
        if (!packet.opcode().hasAeth()) { // a READ response MIDDLE packet has no message sequence number to check
            return isReadAt(sequence) ? onReadResponse(nowNanos, sequence, packet) : onUnexpectedResponse();
        }
        MsnValidator messages = requester.messages();
        int msn = packet.messageSequenceNumber();
        if (!messages.isPlausible(msn)) {
            return onUnexpectedResponse();
        }
        boolean isValid = switch (packet.opcode().connected()) {
            case RC_ACKNOWLEDGE -> onAcknowledge(nowNanos, sequence, packet.syndrome());
            case RC_ATOMIC_ACKNOWLEDGE -> onAtomicAcknowledge(nowNanos, sequence, packet);
            default -> onReadResponse(nowNanos, sequence, packet);
        };
        messages.observe(msn);
        return isValid;
    }

    private boolean onUnexpectedResponse() {
        counters.unexpectedResponses++;
        return false;
    }

    private boolean isReadAt(long sequence) {
        long index = queue.head();
        while (queue.at(index).isDone(sequence)) {
            index++;
        }
        return queue.at(index).opcode == SendOpcode.RDMA_READ;
    }

    private boolean onAcknowledge(long nowNanos, long sequence, int syndrome) {
        if (Aeth.isAck(syndrome)) {
            if (!requester.acknowledge(nowNanos, sequence + 1)) {
                onImpliedNak();
            }
            return true;
        }
        if (Aeth.isRnrNak(syndrome)) {
            counters.receivedRnrNaks++;
            if (requester.acknowledge(nowNanos, sequence)) {
                requester.backOff(nowNanos, syndrome & 0x1f);
            } else {
                onImpliedNak();
            }
            return true;
        }
        return Aeth.isNak(syndrome) && onNak(nowNanos, sequence, syndrome); // other codes are reserved and ignored
    }

    private boolean onNak(long nowNanos, long sequence, int syndrome) {
        if (syndrome == Aeth.NAK_PSN_SEQUENCE_ERROR) {
            counters.receivedSequenceErrors++;
            requester.acknowledge(nowNanos, sequence);
            requester.goBackOnce();
            return true;
        }
        if (!requester.acknowledge(nowNanos, sequence)) {
            onImpliedNak();
            return true;
        }
        queuePair.failSend(
                switch (syndrome) {
                    case Aeth.NAK_INVALID_REQUEST -> CompletionStatus.REMOTE_INVALID_REQUEST_ERROR;
                    case Aeth.NAK_REMOTE_ACCESS_ERROR -> CompletionStatus.REMOTE_ACCESS_ERROR;
                    default -> CompletionStatus.REMOTE_OPERATION_ERROR;
                });
        return true;
    }

    /**
     * A later request was answered before an earlier READ or atomic: that response is lost and has to be requested
     * again.
     */
    private void onImpliedNak() {
        counters.impliedNaks++;
        requester.goBackOnce();
    }

    private boolean onReadResponse(long nowNanos, long sequence, Packet packet) {
        if (!requester.acknowledge(nowNanos, sequence)) {
            onImpliedNak();
            return true;
        }
        if (!queuePair.isSending()) { // a completion sink has called toError
            return true;
        }
        SendRequest r = queue.at(queue.head());
        Opcode opcode = packet.opcode();
        boolean isExpected = r.opcode.needsResponse() && !r.opcode.isAtomic();
        if (!isExpected || opcode.hasAeth() && !Aeth.isAck(packet.syndrome())) {
            queuePair.failSend(CompletionStatus.BAD_RESPONSE_ERROR);
            return true;
        }
        // A repeated READ may restart with FIRST (specification) or continue with MIDDLE (Linux); both are accepted.
        boolean endsPart = sequence + 1 == window.partEnd(r, sequence);
        long to = (sequence - r.firstSequence) * window.mtu();
        int length = (int) Math.min(window.mtu(), r.lengthBytes - to);
        if (opcode.isLast() != endsPart || packet.payloadLength() != length || !Responder.hasRightPad(packet)) {
            queuePair.failSend(CompletionStatus.BAD_RESPONSE_ERROR);
            return true;
        }
        store(nowNanos, r, to, packet.payloadSegment(), packet.payloadOffset(), length);
        return true;
    }

    private boolean onAtomicAcknowledge(long nowNanos, long sequence, Packet packet) {
        if (!requester.acknowledge(nowNanos, sequence)) {
            onImpliedNak();
            return true;
        }
        if (!queuePair.isSending()) {
            return true;
        }
        SendRequest r = queue.at(queue.head());
        if (!r.opcode.isAtomic() || !Aeth.isAck(packet.syndrome())) {
            queuePair.failSend(CompletionStatus.BAD_RESPONSE_ERROR);
            return true;
        }
        long original = AtomicAckEth.original(packet.segment(), packet.atomicAckEthOffset());
        MemorySegment result = scratch;
        if (result == null) {
            result = MemorySegment.ofArray(new byte[Long.BYTES]);
            scratch = result;
        }
        result.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, original);
        store(nowNanos, r, 0, result, 0, Long.BYTES);
        return true;
    }

    /** Stores the response's payload. Completes the work request if this is the last packet. */
    private void store(long nowNanos, SendRequest r, long to, MemorySegment in, long at, int length) {
        if (LocalMemory.scatter(r.list, queuePair.protectionDomain(), to, in, at, length)) {
            requester.onReadOrAtomicResponse(nowNanos, r);
        } else {
            queuePair.failSend(CompletionStatus.LOCAL_PROTECTION_ERROR);
        }
    }
}
