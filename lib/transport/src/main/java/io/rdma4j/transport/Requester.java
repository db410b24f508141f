package io.rdma4j.transport;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.AtomicEth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Feth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Reth;
import io.rdma4j.wire.XrcEth;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/**
 * The requester half of a reliable queue pair: segments work requests into packets, limits the packets in flight
 * ({@link SendWindow}) and retransmits ({@link RetransmissionTimers}).
 */
final class Requester {
    private static final int LOCAL_WRITE = AccessFlag.LOCAL_WRITE.bit();

    /**
     * Number of retransmitted packets for each acknowledgement request, so that a lost acknowledgement does not cost
     * all of them.
     */
    private static final int RETRANSMITS_PER_ACK = 8;

    /**
     * Number of closely spaced messages that share one acknowledgement request if their completions are not signaled.
     */
    static final int MESSAGES_PER_ACK = 16;

    /**
     * Maximum age of the last acknowledgement request while a message may omit one; a fraction of the probe timeout.
     */
    static final long ACK_REQUEST_INTERVAL_NANOS = 50_000;

    private final RcQueuePair queuePair;
    private final MemoryTable memory;
    private final SendQueue queue;
    private final QueuePairCounters counters;
    private final SendWindow window = new SendWindow();
    private final RetransmissionTimers timers = new RetransmissionTimers();
    private final FlushIcrc flushIcrc = new FlushIcrc();

    /** Messages of the started and of the completed work requests. */
    private final MsnValidator messages = new MsnValidator();

    private int peerNumber;

    /**
     * Index of the work request that contains the window's cursor. From the queue's head to {@link #startIndex}, also when an
     * acknowledgement completes local work requests that the cursor has not passed again since it went back.
     */
    private long cursorIndex;

    /** Index of the next work request to start. */
    private long startIndex;

    /** Number of packets sent since the newest one that requested an acknowledgement. */
    private int sinceAckRequest;

    /** Sequence after the newest packet that requested an acknowledgement, and the time when it was sent. */
    private long ackRequestEnd;

    private long ackRequestNanos;

    /** True if a response made the requester go back and nothing was acknowledged since. */
    private boolean wentBack;

    /** True while a tail-loss probe is in flight; nothing else is sent until the peer responds. */
    private boolean isProbing;

    Requester(RcQueuePair queuePair, MemoryTable memory, SendQueue queue, QueuePairCounters counters) {
        this.queuePair = queuePair;
        this.memory = memory;
        this.queue = queue;
        this.counters = counters;
    }

    void start(RcQueuePair.ReceiveParameters path, RcQueuePair.SendParameters p) {
        peerNumber = path.peer().queuePairNumber();
        window.start(p.sendPsn(), path.pathMtuBytes());
        window.limitReads(p.maxReadAtomic());
        timers.start(p);
        flushIcrc.start();
        messages.reset();
        cursorIndex = queue.head();
        startIndex = cursorIndex;
        sinceAckRequest = 0;
        ackRequestEnd = p.sendPsn();
        wentBack = false;
        isProbing = false;
    }

    /** Applies parameters that may change while nothing is in flight. */
    void change(RcQueuePair.SendParameters p) {
        window.limitReads(p.maxReadAtomic());
        timers.change(p);
    }

    /** Returns the packets in flight. */
    SendWindow window() {
        return window;
    }

    /** Returns whether the next FLUSH has the ICRC of Linux. */
    boolean sealsFlushesAsLinux() {
        return flushIcrc.isOfLinux();
    }

    /** Returns the validator of the peer's message sequence numbers. */
    MsnValidator messages() {
        return messages;
    }

    /** Returns whether a work request has been started and is not completed. */
    boolean hasBegun() {
        return queue.head() < startIndex;
    }

    // ---- sending ----

    /** Returns whether a work request has packets that have not been sent since the last time that the cursor went back. */
    boolean hasMore() {
        return cursorIndex != queue.tail();
    }

    /** Writes the next packet. Returns 0 if there is none that may be sent now. */
    int pollTransmit(long nowNanos, MemorySegment out, long at) {
        while (!timers.isWaitingForReceiver() && cursorIndex != queue.tail() && queuePair.isSending()) {
            SendRequest r = queue.at(cursorIndex);
            if (cursorIndex == startIndex && !begin(r)) {
                return 0;
            }
            if (r.failure != null || !r.opcode.isLocal()) {
                return transmit(nowNanos, r, out, at);
            }
            cursorIndex++; // executed when it was started, even if the cursor passes it again
            completeFinished();
        }
        return 0;
    }

    /**
     * Starts a work request: assigns its sequences, or executes it if it is local. Returns false while a fence or the
     * state prevents it.
     */
    private boolean begin(SendRequest r) {
        if (!queuePair.isReadyToSend() || r.fence && window.hasReads()) {
            return false;
        }
        boolean isLocal = r.opcode.isLocal();
        r.failure = isLocal ? LocalOperations.execute(r, queuePair, memory) : validate(r);
        window.assign(r, isLocal ? 0 : PayloadPackets.count(r, window.mtu()));
        startIndex++;
        messages.onBegun(window.messageCount(r));
        return true;
    }

    private @Nullable CompletionStatus validate(SendRequest r) {
        if (r.lengthBytes < 0 || r.lengthBytes > QueuePairMachine.MAX_MESSAGE_BYTES) {
            return CompletionStatus.LOCAL_LENGTH_ERROR;
        }
        if (r.opcode.isAtomic() && r.lengthBytes != Long.BYTES) {
            return CompletionStatus.LOCAL_LENGTH_ERROR;
        }
        if (!r.opcode.hasLocalMemory()
                && (r.lengthBytes != 0 || r.completedBytes() > QueuePairMachine.MAX_MESSAGE_BYTES)) {
            return CompletionStatus.LOCAL_LENGTH_ERROR;
        }
        if (r.opcode.needsResponse() && window.maxReads() == 0 || r.inline && !r.opcode.carriesPayload()) {
            return CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
        }
        int access = r.opcode.carriesPayload() ? 0 : LOCAL_WRITE;
        return PayloadPackets.checkMemory(r, queuePair.protectionDomain(), access);
    }

    private int transmit(long nowNanos, SendRequest r, MemorySegment out, long at) {
        int written = 0;
        if (r.failure == null) {
            written = r.opcode.needsResponse() ? sendForResponse(r, out, at) : sendPayload(nowNanos, r, out, at);
        }
        if (written > 0) {
            onSent(nowNanos);
            return written;
        }
        CompletionStatus failure = r.failure;
        if (failure != null && cursorIndex == queue.head()) {
            queuePair.failSend(failure); // everything before it is completed, so completions stay in order
        }
        return 0;
    }

    private void onSent(long nowNanos) {
        timers.onSent(nowNanos);
        if (sinceAckRequest == 0) {
            ackRequestEnd = Math.max(ackRequestEnd, window.cursor());
            ackRequestNanos = nowNanos;
            if (queuePair.congestion.rate().isPaced()) {
                timers.restart(nowNanos); // the previous request may have been long ago
            }
            if (window.isFirstTransmission()) {
                timers.onResponseRequested(nowNanos, window.cursor() - 1);
            }
        }
    }

    private int sendPayload(long nowNanos, SendRequest r, MemorySegment out, long at) {
        long sequence = window.cursor();
        if (!hasRoom(r, sequence + 1)) {
            return 0;
        }
        int index = (int) (sequence - r.firstSequence);
        boolean isFirst = index == 0;
        boolean isLast = index == r.packets - 1;
        Opcode opcode = opcode(r, isFirst, isLast);
        boolean requestsAck = mustRequestAck() || isLast && !mayOmitAckRequest(nowNanos, r);
        int written = PayloadPackets.write(
                r,
                queuePair.protectionDomain(),
                index,
                window.mtu(),
                opcode,
                peerNumber,
                requestsAck,
                (int) sequence,
                out,
                at);
        if (written == 0) {
            r.failure = CompletionStatus.LOCAL_PROTECTION_ERROR;
            return 0;
        }
        if (requestsAck) {
            sinceAckRequest = 0;
        }
        moveCursor(r, sequence + 1);
        return written;
    }

    /** Writes the request of a READ, an atomic, a FLUSH or an ATOMIC WRITE, which are answered individually. */
    private int sendForResponse(SendRequest r, MemorySegment out, long at) {
        long sequence = window.cursor();
        long end = window.partEnd(r, sequence);
        if (!window.hasRoomForRead() || !hasRoom(r, end)) {
            return 0;
        }
        Opcode opcode = opcode(r, true, true);
        Bth.write(out, at, opcode.code(), false, 0, QueuePairMachine.PARTITION_KEY, peerNumber, true, (int) sequence);
        if (opcode.hasXrcEth()) {
            XrcEth.write(out, at + Bth.LENGTH, r.remoteSharedReceiveQueue);
        }
        writeExtension(r, opcode, sequence, end, out, at);
        sinceAckRequest = 0;
        window.onReadSent();
        moveCursor(r, end);
        return opcode.headerLength() + (opcode.isAtomicWrite() ? Long.BYTES : 0);
    }

    /** Writes what follows the BTH and the XRCETH of a request from {@code sequence} to {@code end}. */
    private void writeExtension(SendRequest r, Opcode opcode, long sequence, long end, MemorySegment out, long at) {
        long rethAt = at + opcode.rethOffset();
        switch (r.opcode) {
            case FLUSH -> {
                Feth.write(out, at + opcode.extensionOffset(), r.flushPlacement, r.flushSelectivity);
                Reth.write(out, rethAt, r.remoteAddress, r.remoteKey, (int) r.flushBytes);
            }
            case ATOMIC_WRITE -> {
                Reth.write(out, rethAt, r.remoteAddress, r.remoteKey, Long.BYTES);
                out.set(ValueLayout.JAVA_LONG_UNALIGNED, at + opcode.headerLength(), r.swapOrAdd);
            }
            case RDMA_READ -> {
                int mtu = window.mtu();
                long from = (sequence - r.firstSequence) * mtu;
                long length = Math.min(r.lengthBytes, (end - r.firstSequence) * mtu) - from;
                Reth.write(out, rethAt, r.remoteAddress + from, r.remoteKey, (int) length);
            }
            default ->
                AtomicEth.write(
                        out, at + opcode.extensionOffset(), r.remoteAddress, r.remoteKey, r.swapOrAdd, r.compare);
        }
    }

    private Opcode opcode(SendRequest r, boolean isFirst, boolean isLast) {
        Opcode opcode = RequestOpcodes.of(r.opcode, isFirst, isLast);
        return queuePair.isExtended() ? opcode.extended() : opcode;
    }

    /** Returns whether packets up to {@code end} may be in flight now; after an RNR NAK and for a probe only one. */
    private boolean hasRoom(SendRequest r, long end) {
        return window.hasRoom(r, end, isProbing || timers.isBackedOff());
    }

    /**
     * Returns whether a message may omit its acknowledgement request. It may if its completion is not signaled and
     * messages follow one another so quickly that a later one will request it. If none follows, the tail-loss probe
     * does (decision 023).
     */
    private boolean mayOmitAckRequest(long nowNanos, SendRequest r) {
        return timers.sendsProbes()
                && !queuePair.isSignaled(r)
                && sinceAckRequest < MESSAGES_PER_ACK
                && nowNanos - ackRequestNanos < ACK_REQUEST_INTERVAL_NANOS
                && !window.isRetransmitting()
                && queue.tail() - queue.head() <= queue.capacity() / 2
                && timers.isRoundTripKnown();
    }

    /**
     * Returns whether a full packet, or the last one of a message, must request an acknowledgement to keep the window
     * moving.
     */
    private boolean mustRequestAck() {
        sinceAckRequest++;
        boolean isRetransmit = window.isRetransmitting();
        return sinceAckRequest >= (isRetransmit ? RETRANSMITS_PER_ACK : window.windowPackets() / 2)
                || window.isNearlyFull()
                || isRetransmit && !window.isInFlight();
    }

    private void moveCursor(SendRequest r, long to) {
        if (window.cursor() < window.sentEnd()) {
            counters.retransmittedPackets++;
        }
        window.onSent(r, to);
        if (to == r.endSequence()) {
            cursorIndex++;
        }
    }

    // ---- responses, called by the completer ----

    /**
     * Acknowledges everything before {@code end}, but stops at a request that needs a separate response.
     *
     * @return {@code true} if everything before {@code end} is acknowledged
     */
    boolean acknowledge(long nowNanos, long end) {
        long reached = window.unacked();
        long index = queue.head();
        while (reached < end) {
            SendRequest r = queue.at(index++);
            if (r.opcode.needsResponse()) {
                break;
            }
            reached = Math.min(end, r.endSequence());
        }
        boolean isComplete = reached == end;
        if (reached > window.unacked()) {
            advance(nowNanos, reached);
        }
        return isComplete;
    }

    /** Notes that the next response packet of the oldest work request, which needs one, was received. */
    void onReadOrAtomicResponse(long nowNanos, SendRequest r) {
        window.onReadResponse(r);
        advance(nowNanos, window.unacked() + 1);
    }

    private void advance(long nowNanos, long to) {
        if (isProbing) {
            isProbing = false;
            window.onProbeAcknowledged(to);
        }
        wentBack = false;
        window.acknowledge(to);
        timers.onAcknowledged(nowNanos, to, window.isInFlight());
        completeFinished();
        window.onAcknowledgedBytes(hasBegun() ? queue.at(queue.head()) : null);
    }

    private void completeFinished() {
        while (hasBegun()) {
            SendRequest oldest = queue.at(queue.head());
            if (!oldest.isDone(window.unacked())) {
                return;
            }
            messages.onDone(window.messageCount(oldest));
            if (oldest.opcode == SendOpcode.FLUSH) {
                flushIcrc.onAnswered();
            }
            queuePair.completeSend(oldest, CompletionStatus.SUCCESS);
            cursorIndex = Math.max(cursorIndex, queue.head()); // the slot of a completed request may be used again
        }
    }

    /** Returns the smoothed round-trip time, 0 if none has been measured. */
    long roundTripNanos() {
        return timers.roundTripNanos();
    }

    // ---- retransmission ----

    long nextDeadlineNanos() {
        return timers.deadlineNanos();
    }

    void onDeadline(long nowNanos) {
        timers.onRnrDeadline(nowNanos);
        if (isHeldBack(nowNanos)) {
            timers.restart(nowNanos); // a later packet will request an acknowledgement
        } else if (timers.isTimeoutOver(nowNanos)) {
            counters.timeouts++;
            wentBack = false;
            window.onTimeout();
            onSilence();
            retransmit();
        } else if (timers.takeProbe(nowNanos)) {
            probe();
        }
    }

    /** Returns whether a timer has expired while the peer owes no answer, since the rate holds back the packet that requests it. */
    private boolean isHeldBack(long nowNanos) {
        return queuePair.congestion.rate().isHoldingBack()
                && window.unacked() >= ackRequestEnd
                && timers.isOver(nowNanos);
    }

    /**
     * Retransmits only the oldest packet as a tail-loss probe; the response shows what the peer has received. The probe
     * consumes no retry and does not extend the acknowledgement timeout.
     */
    private void probe() {
        if (window.isAcknowledged() || timers.isWaitingForReceiver()) {
            return;
        }
        if (window.unacked() < ackRequestEnd) { // otherwise no acknowledgement was requested yet
            counters.tailLossProbes++;
            timers.onProbe();
        }
        onSilence();
        rewind();
        isProbing = true;
    }

    /** Notes that the oldest packet is sent again although no response indicates a loss. */
    private void onSilence() {
        if (hasBegun() && queue.at(queue.head()).opcode == SendOpcode.FLUSH) {
            flushIcrc.onRepeated();
        }
    }

    /** Goes back to the oldest packet because a response indicates a loss; only once until something is acknowledged. */
    void goBackOnce() {
        if (!wentBack && !timers.isWaitingForReceiver()) {
            wentBack = true;
            window.onLoss();
            retransmit();
        }
    }

    /** Consumes a retry and goes back to the oldest packet, or fails the connection if no retry is left. */
    private void retransmit() {
        timers.stopTimeout(); // until a packet is sent
        if (window.isAcknowledged()) {
            return;
        }
        if (!timers.takeRetry()) {
            counters.retryExceededErrors++;
            queuePair.failSend(CompletionStatus.RETRY_EXCEEDED_ERROR);
            return;
        }
        rewind();
    }

    /**
     * Goes back to the oldest packet and starts an RNR back-off, because the peer had no receive posted. Resumes with a
     * single packet, since the peer would drop those that follow.
     */
    void backOff(long nowNanos, int timerCode) {
        if (timers.isWaitingForReceiver()) {
            return;
        }
        if (!timers.takeRnrRetry()) {
            counters.rnrRetryExceededErrors++;
            queuePair.failSend(CompletionStatus.RNR_RETRY_EXCEEDED_ERROR);
            return;
        }
        rewind();
        timers.backOff(nowNanos, timerCode);
    }

    private void rewind() {
        window.rewind();
        timers.onRewind();
        cursorIndex = queue.head();
        sinceAckRequest = 0;
        isProbing = false;
    }
}
