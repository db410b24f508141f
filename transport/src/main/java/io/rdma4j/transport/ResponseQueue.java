package io.rdma4j.transport;

import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.AtomicAckEth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Opcode;
import java.lang.foreign.MemorySegment;

/**
 * What a responder still has to send: the answers of READs and atomics in the order of their PSNs, and after them at most
 * one acknowledgement or refusal, which stands for all before it. So nothing is ever acknowledged past READ data that have
 * not left.
 */
final class ResponseQueue {
    private static final int NONE = -1;

    /**
     * Packets of READ answers that may still leave after the queue pair has failed: what an engine sends in one run, so that
     * READs before a refused request are answered as usual, but no peer can have gigabytes read behind a deliberate fault.
     */
    private static final int MOST_PACKETS_AFTER_FAILURE = 256;

    private final Responder responder;
    private final boolean isExtended;
    private final QueuePairCounters counters;

    private ReadAtomicResources resources = new ReadAtomicResources(0);
    private int peerNumber;
    private int mtu = 256;
    private int rnrSyndrome;
    private int messageSequenceNumber;

    /**
     * Sequence of the last SEND or WRITE packet executed. READs and atomics do not count: acknowledging one by its own PSN
     * would say that it needs no answer.
     */
    private long lastExecuted;

    private int pendingSyndrome = NONE;

    /** What is refused; an acknowledgement is of {@link #lastExecuted} whenever it leaves. */
    private long refusedSequence;

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

    /** Sets what may change while the queue pair works. */
    void change(RcQueuePair.ReceiveParameters p, ReadAtomicResources remembered) {
        resources = remembered;
        rnrTimer(p.minRnrTimerCode());
    }

    /** Sets the time that the peer is asked to wait when no receive is posted, by its code. */
    void rnrTimer(int code) {
        rnrSyndrome = Aeth.RNR_NAK | code;
    }

    /** Forgets everything that would be sent. */
    void clear() {
        resources.deactivateAll();
        pendingSyndrome = NONE;
    }

    /** Forgets READ and atomic answers; an acknowledgement already owed stays if it does not depend on them. */
    void clearResponses() {
        if (resources.current() != null) {
            clear();
        }
    }

    /** The queue pair has failed: answers few packets more, and refuses the first READ that is longer. */
    void limitResponses() {
        ReadAtomicResources.Resource dropped = resources.keepActive(MOST_PACKETS_AFTER_FAILURE);
        if (dropped != null) {
            refuse(Aeth.NAK_REMOTE_OPERATIONAL_ERROR, dropped.sendSequence);
        }
    }

    /** Counts a message as done and gives the new message sequence number. */
    int onMessageDone() {
        messageSequenceNumber = (messageSequenceNumber + 1) & 0xff_ffff;
        return messageSequenceNumber;
    }

    /** Notes that a SEND or WRITE packet was executed. */
    void onExecuted(long sequence, boolean asksAck) {
        lastExecuted = sequence;
        boolean isAckPending = pendingSyndrome == Aeth.ACK;
        if (asksAck && isAckPending) {
            counters.coalescedAcks++;
        }
        // A refusal that has not left yet is overtaken by events; what it acknowledged still wants to be.
        if (asksAck || pendingSyndrome != NONE && !isAckPending) {
            pendingSyndrome = Aeth.ACK;
        }
    }

    /** Notes that a READ or atomic was executed: its answer acknowledges all before it. */
    void onProgress() {
        if (pendingSyndrome != NONE) {
            pendingSyndrome = NONE;
            counters.coalescedAcks++;
        }
    }

    /** Answers a SEND or WRITE that was executed before. */
    void acknowledgeAgain() {
        if (pendingSyndrome == NONE) {
            pendingSyndrome = Aeth.ACK;
        }
    }

    /** Refuses the request of a sequence; whatever was to be acknowledged is so by this too. */
    void refuse(int syndrome, long sequence) {
        pendingSyndrome = syndrome;
        refusedSequence = sequence;
    }

    /** Asks the peer to send the request of a sequence again later, when a receive may have been posted. */
    void refuseForNow(long sequence) {
        refuse(rnrSyndrome, sequence);
    }

    /** Whether READ or atomic answers wait to be sent. */
    boolean hasResponse() {
        return resources.current() != null;
    }

    /** Writes the next READ or atomic answer packet; 0 if there is none. What can be answered no more is passed over. */
    int pollResponse(MemorySegment out, long at) {
        int written = 0;
        for (ReadAtomicResources.Resource r = resources.current(); r != null && written == 0; r = resources.current()) {
            written = r.isAtomic ? writeAtomicResponse(r, out, at) : writeReadResponse(r, out, at);
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

    /** Returns 0 if its memory is gone; it is current no more then. */
    private int writeReadResponse(ReadAtomicResources.Resource r, MemorySegment out, long at) {
        long from = (r.sendSequence - r.firstSequence) * mtu;
        int length = (int) Math.min(mtu, r.sendEndBytes - from);
        boolean isFirst = r.sendSequence == r.startSequence;
        boolean isLast = from + length == r.sendEndBytes;
        Opcode opcode = readResponse(isFirst, isLast);
        long payloadAt = at + opcode.headerLength();
        MemoryRegion region = r.region;
        if (region != null
                && !(region.isValid()
                        && LocalMemory.copy(
                                region.memory(), r.address - region.address() + from, out, payloadAt, length))) {
            onRegionGone(r);
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

    /**
     * Which part of this answer the packet is: the answer to a repeated request that asks for the rest of a READ begins
     * with FIRST, as the specification says. Linux answers so with MIDDLE, but takes FIRST too.
     */
    private static Opcode readResponse(boolean isFirst, boolean isLast) {
        if (isFirst) {
            return isLast ? Opcode.RC_READ_RESPONSE_ONLY : Opcode.RC_READ_RESPONSE_FIRST;
        }
        return isLast ? Opcode.RC_READ_RESPONSE_LAST : Opcode.RC_READ_RESPONSE_MIDDLE;
    }

    private void onRegionGone(ReadAtomicResources.Resource r) {
        if (r.sendSequence >= r.sentEnd) {
            resources.deactivateAll();
            responder.onAccessError(r.sendSequence);
        } else {
            resources.deactivate(r);
        }
    }

    /** Writes the acknowledgement or refusal, when no READ or atomic answer waits; 0 if there is none. */
    int pollAcknowledge(MemorySegment out, long at) {
        if (pendingSyndrome == NONE || resources.current() != null) {
            return 0;
        }
        long sequence = pendingSyndrome == Aeth.ACK ? lastExecuted : refusedSequence;
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
