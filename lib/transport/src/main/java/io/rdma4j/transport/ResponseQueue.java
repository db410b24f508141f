package io.rdma4j.transport;

import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.AtomicAckEth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Opcode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The responses a responder has yet to send. READ and atomic responses come first, in PSN order. At most one
 * acknowledgement or NAK follows, which covers everything before it, so that no acknowledgement ever passes READ data
 * still to be sent.
 */
final class ResponseQueue {
    private static final int NONE = -1;

    /**
     * Maximum number of READ response packets sent after the queue pair has failed: what an engine sends in one run.
     * READs before a rejected request are thus answered as usual, but a peer cannot request gigabytes before a
     * deliberate error.
     */
    private static final int MAX_PACKETS_AFTER_FAILURE = 256;

    private final Responder responder;
    private final boolean isExtended;
    private final QueuePairCounters counters;

    private ReadAtomicResources resources = new ReadAtomicResources(0);
    private int peerNumber;
    private int mtu = 256;
    private int rnrSyndrome;
    private int messageSequenceNumber;

    /**
     * Sequence of the last executed SEND or WRITE packet. READs and atomics do not count: an acknowledgement with their
     * PSN would imply that they need no response.
     */
    private long lastExecuted;

    private int pendingSyndrome = NONE;

    /** Sequence of the NAK. An acknowledgement always carries {@link #lastExecuted} at the time it is sent. */
    private long nakSequence;

    ResponseQueue(Responder responder, boolean isExtended, QueuePairCounters counters) {
        this.isExtended = isExtended;
        this.responder = responder;
        this.counters = counters;
    }

    void start(RcQueuePair.ReceiveParameters p, ReadAtomicResources remembered) {
        resources = remembered;
        peerNumber = p.peer().queuePairNumber();
        mtu = p.pathMtuBytes();
        rnrTimer(p.minRnrTimerCode());
        messageSequenceNumber = 0;
        lastExecuted = p.receivePsn() - 1L;
        pendingSyndrome = NONE;
    }

    /** Applies parameters that may change during operation. */
    void change(RcQueuePair.ReceiveParameters p, ReadAtomicResources remembered) {
        resources = remembered;
        rnrTimer(p.minRnrTimerCode());
    }

    /** Sets the delay requested from the peer when no receive is posted, by its code. */
    void rnrTimer(int code) {
        rnrSyndrome = Aeth.RNR_NAK | code;
    }

    /** Discards all pending responses. */
    void clear() {
        resources.deactivateAll();
        pendingSyndrome = NONE;
    }

    /** Discards READ and atomic responses. A pending acknowledgement is kept if it does not depend on them. */
    void clearResponses() {
        if (resources.current() != null) {
            clear();
        }
    }

    /**
     * Limits the response packets sent after the queue pair has failed, and sends a NAK for the first READ beyond the
     * limit.
     */
    void limitResponses() {
        ReadAtomicResources.Resource dropped = resources.keepActive(MAX_PACKETS_AFTER_FAILURE);
        if (dropped != null) {
            nak(Aeth.NAK_REMOTE_OPERATIONAL_ERROR, dropped.sendSequence);
        }
    }

    /** Counts a completed message and returns the new message sequence number. */
    int onMessageDone() {
        messageSequenceNumber = (messageSequenceNumber + 1) & 0xff_ffff;
        return messageSequenceNumber;
    }

    /** Notes that a SEND or WRITE packet was executed. */
    void onExecuted(long sequence, boolean requestsAck) {
        lastExecuted = sequence;
        boolean isAckPending = pendingSyndrome == Aeth.ACK;
        if (requestsAck && isAckPending) {
            counters.coalescedAcks++;
        }
        // An unsent NAK is superseded, but the packets that it would have acknowledged still need an acknowledgement.
        if (requestsAck || pendingSyndrome != NONE && !isAckPending) {
            pendingSyndrome = Aeth.ACK;
        }
    }

    /** Notes that a READ or atomic was executed; its response acknowledges everything before it. */
    void onReadOrAtomic() {
        if (pendingSyndrome != NONE) {
            pendingSyndrome = NONE;
            counters.coalescedAcks++;
        }
    }

    /** Acknowledges a duplicate SEND or WRITE. */
    void acknowledgeAgain() {
        if (pendingSyndrome == NONE) {
            pendingSyndrome = Aeth.ACK;
        }
    }

    /** Schedules a NAK for a sequence; it also acknowledges everything before. */
    void nak(int syndrome, long sequence) {
        pendingSyndrome = syndrome;
        nakSequence = sequence;
    }

    /** Schedules an RNR NAK, which makes the peer retransmit the request after a delay. */
    void rnrNak(long sequence) {
        nak(rnrSyndrome, sequence);
    }

    /** Returns whether READ or atomic responses are pending. */
    boolean hasResponse() {
        return resources.current() != null;
    }

    /**
     * Writes the next READ or atomic response packet. Skips responses that can no longer be sent; returns 0 if there is
     * none.
     */
    int pollResponse(MemorySegment out, long at) {
        int written = 0;
        for (ReadAtomicResources.Resource r = resources.current(); r != null && written == 0; r = resources.current()) {
            written = r.kind == ReadAtomicResources.Kind.ATOMIC
                    ? writeAtomicResponse(r, out, at)
                    : writeReadResponse(r, out, at);
        }
        return written;
    }

    private int writeAtomicResponse(ReadAtomicResources.Resource r, MemorySegment out, long at) {
        Opcode opcode = Opcode.RC_ATOMIC_ACKNOWLEDGE;
        writeBth(opcode, 0, r.firstSequence, out, at);
        Aeth.write(out, at + Bth.LENGTH, Aeth.ACK, r.messageSequenceNumber);
        AtomicAckEth.write(out, at + Bth.LENGTH + Aeth.LENGTH, r.original);
        r.sentEnd = r.endSequence;
        resources.deactivate(r);
        return opcode.headerLength();
    }

    /** Writes a READ response packet. If the memory is no longer valid, deactivates the resource and returns 0. */
    private int writeReadResponse(ReadAtomicResources.Resource r, MemorySegment out, long at) {
        long from = (r.sendSequence - r.firstSequence) * mtu;
        int length = (int) Math.min(mtu, r.sendEndBytes - from);
        boolean isFirst = r.sendSequence == r.startSequence;
        boolean isLast = from + length == r.sendEndBytes;
        Opcode opcode = readResponse(isFirst, isLast);
        long payloadAt = at + opcode.headerLength();
        if (r.region != null && !copy(r, responder.readable(r.region), from, out, payloadAt, length)) {
            onRegionInvalidated(r);
            return 0;
        }
        int pad = -length & 3;
        writeBth(opcode, pad, r.sendSequence, out, at);
        if (opcode.hasAeth()) {
            Aeth.write(out, at + Bth.LENGTH, Aeth.ACK, r.messageSequenceNumber);
        }
        Padding.clear(out, payloadAt + length, pad);
        r.sendSequence++;
        r.sentEnd = Math.max(r.sentEnd, r.sendSequence);
        if (isLast) {
            resources.deactivate(r);
        }
        return opcode.headerLength() + length + pad;
    }

    private static boolean copy(
            ReadAtomicResources.Resource r,
            @Nullable MemoryRegion region,
            long from,
            MemorySegment out,
            long at,
            int length) {
        return region != null
                && LocalMemory.copy(region.memory(), r.address - region.address() + from, out, at, length);
    }

    /**
     * Returns the opcode of a response packet. The response to a repeated request for the rest of a READ begins with
     * FIRST, as specified. Linux responds with MIDDLE, but also accepts FIRST.
     */
    private static Opcode readResponse(boolean isFirst, boolean isLast) {
        if (isFirst) {
            return isLast ? Opcode.RC_READ_RESPONSE_ONLY : Opcode.RC_READ_RESPONSE_FIRST;
        }
        return isLast ? Opcode.RC_READ_RESPONSE_LAST : Opcode.RC_READ_RESPONSE_MIDDLE;
    }

    private void onRegionInvalidated(ReadAtomicResources.Resource r) {
        if (r.sendSequence >= r.sentEnd) {
            resources.deactivateAll();
            responder.onAccessError(r.sendSequence);
        } else {
            resources.deactivate(r);
        }
    }

    /**
     * Writes the pending acknowledgement or NAK. Returns 0 if there is none, or if READ or atomic responses are
     * pending.
     */
    int pollAcknowledge(MemorySegment out, long at) {
        if (pendingSyndrome == NONE || resources.current() != null) {
            return 0;
        }
        long sequence = pendingSyndrome == Aeth.ACK ? lastExecuted : nakSequence;
        writeBth(Opcode.RC_ACKNOWLEDGE, 0, sequence, out, at);
        Aeth.write(out, at + Bth.LENGTH, pendingSyndrome, messageSequenceNumber);
        pendingSyndrome = NONE;
        return Opcode.RC_ACKNOWLEDGE.headerLength();
    }

    private void writeBth(Opcode opcode, int pad, long sequence, MemorySegment out, long at) {
        Bth.write(
                out,
                at,
                (isExtended ? opcode.extended() : opcode).code(),
                false,
                pad,
                QueuePairMachine.PARTITION_KEY,
                peerNumber,
                false,
                (int) sequence);
    }
}
