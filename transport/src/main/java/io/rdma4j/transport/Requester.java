package io.rdma4j.transport;

import io.rdma4j.wire.AtomicEth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Psn;
import io.rdma4j.wire.Reth;
import io.rdma4j.wire.Timers;
import io.rdma4j.wire.XrcEth;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The requester half of a reliable queue pair: segments work requests into packets, limits the packets in flight and
 * retransmits.
 *
 * <p>Packets are identified by sequences: PSNs extended to 64 bits, so that arithmetic here never wraps. An RDMA READ
 * uses one sequence for each packet of its response. Everything before {@link #unacked} is acknowledged, and
 * {@link #cursor} is the next packet to send. Retransmission resets the cursor to {@link #unacked} (go-back-N, as Linux
 * peers expect). A byte count runs in parallel to the sequences and determines how much of the congestion window is in
 * use.
 *
 * <p>Long READs are requested in parts, aligned to multiples of {@link #readPartPackets} from the first packet of the
 * request. A repeated request thus ends where the original one did.
 */
final class Requester {
    /**
     * Minimum silence that costs a retry, if the timeout permits: a software peer occasionally waits for a processor.
     */
    static final long MIN_SILENCE_NANOS = 50_000_000;

    /** A timeout of T may expire anywhere between T and this many times T (C9-141). */
    private static final int MAX_TIMEOUTS = 4;

    /** Initial window in bytes, well below the size of an ordinary UDP receive buffer. */
    static final int WINDOW_BYTES = 128 * 1024;

    /** Ratio of the maximum to the initial window; the maximum is about the size of an ordinary UDP receive buffer. */
    private static final int WINDOW_GROWTH = 2;

    /**
     * Minimum weight of a packet: the receive buffer space that Linux charges for a short one. This limits the initial
     * window to 128 packets, the maximum that rdma_rxe ever has in flight.
     */
    static final int MIN_PACKET_BYTES = 1024;

    /**
     * Upper bound of the window: packets of a quarter of the PSN space. Half would suffice if no packet were late
     * (docs/model); a window of the usual size is far below either.
     */
    private static final long MAX_WINDOW_BYTES =
            Math.min(WINDOW_GROWTH * WINDOW_BYTES, (long) Psn.COUNT / 4 * MIN_PACKET_BYTES);

    /** Initial window in bytes. */
    private static final long INITIAL_WINDOW_BYTES = Math.min(WINDOW_BYTES, MAX_WINDOW_BYTES);

    /** Maximum message length in bytes. */
    static final long MAX_MESSAGE_BYTES = 1L << 31;

    static final long NEVER = Long.MAX_VALUE;

    private static final int UNLIMITED_RNR_RETRY = 7;

    /** Maximum RNR back-off beyond the delay that the peer requests. */
    private static final long MAX_EXTRA_BACK_OFF_NANOS = 4_000_000;

    /** Doublings of the shortest RNR delay, 10 µs, that exceed that limit. */
    private static final int MAX_BACK_OFF_DOUBLINGS = 9;

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

    private int peerNumber;
    private int mtu = 256;

    /** Weight of a full packet in bytes. */
    private long packetBytes = MIN_PACKET_BYTES;

    private final CongestionWindow window = new CongestionWindow();
    private int readPartPackets;
    private int maxReads;
    private int retryCount;
    private int rnrRetry;

    /** Silence that costs a retry; NEVER to disable the timer. */
    private long timeoutNanos;

    /** Oldest unacknowledged sequence. */
    private long unacked;

    /** Next sequence to send. */
    private long cursor;

    /** Index of the work request that contains {@link #cursor}. */
    private long cursorIndex;

    /** Sequence after the newest one ever sent. */
    private long sentEnd;

    /** Next sequence to assign, and the index of the work request that gets it. */
    private long assignedEnd;

    private long assignedIndex;

    /** Byte counts of {@link #unacked}, {@link #cursor} and {@link #assignedEnd}. */
    private long unackedByte;

    private long cursorByte;
    private long assignedByte;

    /** Number of READ parts and atomics between {@link #unacked} and {@link #cursor}. */
    private int readsInFlight;

    /** Messages of the started and of the completed work requests. */
    private final MsnValidator messages = new MsnValidator();

    private int sinceAckRequest;

    /** Sequence after the newest packet that requested an acknowledgement, and the time when it was sent. */
    private long ackRequestEnd;

    private long ackRequestNanos;

    /** End of the sequences being retransmitted since going back. */
    private long retransmitEnd;

    private int retriesLeft;
    private int rnrRetriesLeft;

    /** True if a response made the requester go back and nothing was acknowledged since. */
    private boolean wentBack;

    private long retransmitDeadline = NEVER;
    private long rnrDeadline = NEVER;

    /** Number of consecutive RNR back-offs. */
    private int rnrBackOffs;

    private final RoundTripEstimator roundTrips = new RoundTripEstimator();
    private boolean tailLossProbes;

    /** Time when a tail-loss probe is sent. */
    private long probeDeadline = NEVER;

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
        mtu = path.pathMtuBytes();
        packetBytes = Math.max(MIN_PACKET_BYTES, mtu);
        window.start(INITIAL_WINDOW_BYTES, MAX_WINDOW_BYTES, packetBytes, p.sendPsn());
        readPartPackets = (int) (INITIAL_WINDOW_BYTES / packetBytes);
        change(p);
        unacked = p.sendPsn();
        cursor = unacked;
        sentEnd = unacked;
        assignedEnd = unacked;
        unackedByte = 0;
        cursorByte = 0;
        assignedByte = 0;
        cursorIndex = queue.head();
        assignedIndex = cursorIndex;
        wentBack = false;
        sinceAckRequest = 0;
        ackRequestEnd = unacked;
        retransmitEnd = unacked;
        readsInFlight = 0;
        isProbing = false;
        rnrBackOffs = 0;
        roundTrips.reset();
        messages.reset();
        stopTimers();
    }

    /**
     * Returns how long the peer may be silent before a retry is consumed. With tail-loss probes, which repair losses
     * earlier, the time need not be short.
     */
    static long retryTimeoutNanos(long timeoutNanos, boolean tailLossProbes) {
        boolean isShort = tailLossProbes && timeoutNanos < MIN_SILENCE_NANOS;
        return isShort ? Math.min(MIN_SILENCE_NANOS, MAX_TIMEOUTS * timeoutNanos) : timeoutNanos;
    }

    /** Applies parameters that may change while nothing is in flight. */
    void change(RcQueuePair.SendParameters p) {
        maxReads = p.maxReadAtomic();
        retryCount = p.retryCount();
        rnrRetry = p.rnrRetry();
        tailLossProbes = p.tailLossProbes();
        timeoutNanos = p.retryTimeoutNanos();
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
    }

    /** Returns whether a work request has been started and is not completed. */
    boolean hasBegun() {
        return queue.head() < assignedIndex;
    }

    void stopTimers() {
        retransmitDeadline = NEVER;
        probeDeadline = NEVER;
        rnrDeadline = NEVER;
    }

    long nextDeadlineNanos() {
        return Math.min(Math.min(retransmitDeadline, probeDeadline), rnrDeadline);
    }

    void onDeadline(long nowNanos) {
        if (nowNanos >= rnrDeadline) {
            rnrDeadline = NEVER;
        }
        if (nowNanos >= retransmitDeadline) {
            counters.timeouts++;
            wentBack = false;
            window.onSilence(sentEnd);
            consumeRetry();
        } else if (nowNanos >= probeDeadline) {
            probeDeadline = NEVER;
            probe();
        }
    }

    /**
     * Retransmits only the oldest packet as a tail-loss probe; the response shows what the peer has received. The probe
     * consumes no retry and does not extend the retransmission deadline.
     */
    private void probe() {
        if (unacked == sentEnd || rnrDeadline != NEVER) {
            return;
        }
        if (unacked < ackRequestEnd) {
            counters.tailLossProbes++;
            roundTrips.onProbe();
        } // otherwise no acknowledgement was requested yet
        long deadline = retransmitDeadline;
        rewind();
        isProbing = true;
        retransmitDeadline = deadline;
    }

    /**
     * Returns whether packets up to {@code endByte} may be in flight now. One packet, or one part of a READ, is always
     * allowed.
     */
    private boolean hasRoom(long endByte) {
        if (cursor == unacked || !isProbing && rnrBackOffs == 0 && endByte - unackedByte <= window.bytes()) {
            return true;
        }
        window.onLimit();
        return false;
    }

    /** Arms the probe timer if a response is outstanding. */
    private void armProbeTimer(long nowNanos) {
        probeDeadline = tailLossProbes && unacked < cursor ? nowNanos + roundTrips.probeTimeoutNanos() : NEVER;
    }

    // ---- sending ----

    /** Writes the next packet. Returns 0 if there is none that may be sent now. */
    int pollTransmit(long nowNanos, MemorySegment out, long at) {
        while (rnrDeadline == NEVER && cursorIndex != queue.tail() && queuePair.isSending()) {
            SendRequest r = queue.at(cursorIndex);
            if (cursorIndex == assignedIndex && !begin(r)) {
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

    private int transmit(long nowNanos, SendRequest r, MemorySegment out, long at) {
        if (r.failure == null) {
            int written = r.opcode.isReadOrAtomic() ? sendReadOrAtomic(r, out, at) : sendPayload(nowNanos, r, out, at);
            if (written > 0) {
                if (retransmitDeadline == NEVER && timeoutNanos != NEVER) {
                    retransmitDeadline = nowNanos + timeoutNanos;
                }
                if (probeDeadline == NEVER) {
                    armProbeTimer(nowNanos);
                }
                if (sinceAckRequest == 0) {
                    ackRequestEnd = Math.max(ackRequestEnd, cursor);
                    ackRequestNanos = nowNanos;
                    if (cursor == sentEnd && cursor > retransmitEnd) {
                        roundTrips.onSent(nowNanos, cursor - 1);
                    }
                }
                return written;
            }
        }
        WorkStatus failure = r.failure;
        if (failure != null && cursorIndex == queue.head()) {
            queuePair.failSend(failure); // everything before it is completed, so completions stay in order
        }
        return 0;
    }

    /**
     * Starts a work request: assigns its sequences, or executes it if it is local. Returns false while a fence or the
     * state prevents it.
     */
    private boolean begin(SendRequest r) {
        if (!queuePair.isReadyToSend() || r.fence && readsInFlight > 0) {
            return false;
        }
        boolean isLocal = r.opcode.isLocal();
        r.failure = isLocal ? LocalOperations.execute(r, queuePair, memory) : validate(r);
        r.firstSequence = assignedEnd;
        r.packets = isLocal ? 0 : PayloadPackets.count(r, mtu);
        assignedEnd += r.packets;
        assignedIndex++;
        messages.onBegun(messagesOf(r));
        r.firstByte = assignedByte;
        assignedByte += bytesOf(r);
        r.endByte = assignedByte;
        return true;
    }

    /** Returns the number of messages on the wire: one for each part of a READ, none for a local operation. */
    private int messagesOf(SendRequest r) {
        return r.opcode == WorkOpcode.RDMA_READ
                ? (r.packets + readPartPackets - 1) / readPartPackets
                : Math.min(r.packets, 1);
    }

    /** Returns the total weight of the packets of a work request. */
    private long bytesOf(SendRequest r) {
        int full = r.packets - 1;
        return full < 0 ? 0 : full * packetBytes + Math.max(MIN_PACKET_BYTES, r.lengthBytes - (long) full * mtu);
    }

    /** Returns the byte count at a sequence of a work request or at its end. */
    private long byteAt(SendRequest r, long sequence) {
        return sequence == r.endSequence() ? r.endByte : r.firstByte + (sequence - r.firstSequence) * packetBytes;
    }

    private @Nullable WorkStatus validate(SendRequest r) {
        if (r.lengthBytes < 0 || r.lengthBytes > MAX_MESSAGE_BYTES) {
            return WorkStatus.LOCAL_LENGTH_ERROR;
        }
        if (r.opcode.isAtomic() && r.lengthBytes != Long.BYTES) {
            return WorkStatus.LOCAL_LENGTH_ERROR;
        }
        if (r.opcode.isReadOrAtomic() && maxReads == 0 || r.inline && !r.opcode.carriesPayload()) {
            return WorkStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR;
        }
        int access = r.opcode.carriesPayload() ? 0 : AccessFlags.LOCAL_WRITE;
        return PayloadPackets.checkMemory(r, queuePair.protectionDomain(), access);
    }

    private int sendPayload(long nowNanos, SendRequest r, MemorySegment out, long at) {
        if (!hasRoom(byteAt(r, cursor + 1))) {
            return 0;
        }
        int index = (int) (cursor - r.firstSequence);
        boolean isFirst = index == 0;
        boolean isLast = index == r.packets - 1;
        Opcode opcode = opcode(r, isFirst, isLast);
        boolean requestsAck = mustRequestAck() || isLast && !mayOmitAckRequest(nowNanos, r);
        int written = PayloadPackets.write(
                r, queuePair.protectionDomain(), index, mtu, opcode, peerNumber, requestsAck, (int) cursor, out, at);
        if (written == 0) {
            r.failure = WorkStatus.LOCAL_PROTECTION_ERROR;
            return 0;
        }
        if (requestsAck) {
            sinceAckRequest = 0;
        }
        moveCursor(r, cursor + 1);
        return written;
    }

    private Opcode opcode(SendRequest r, boolean isFirst, boolean isLast) {
        Opcode opcode = RequestOpcodes.of(r.opcode, isFirst, isLast);
        return queuePair.isExtended() ? opcode.extended() : opcode;
    }

    /**
     * Returns whether a message may omit its acknowledgement request. It may if its completion is not signaled and
     * messages follow one another so quickly that a later one will request it. If none follows, the tail-loss probe
     * does.
     */
    private boolean mayOmitAckRequest(long nowNanos, SendRequest r) {
        return tailLossProbes
                && !queuePair.isSignaled(r)
                && sinceAckRequest < MESSAGES_PER_ACK
                && nowNanos - ackRequestNanos < ACK_REQUEST_INTERVAL_NANOS
                && cursor >= retransmitEnd
                && queue.tail() - queue.head() <= queue.capacity() / 2
                && roundTrips.isKnown();
    }

    /**
     * Returns whether a full packet, or the last one of a message, must request an acknowledgement to keep the window
     * moving.
     */
    private boolean mustRequestAck() {
        sinceAckRequest++;
        boolean isRetransmit = cursor < retransmitEnd;
        return sinceAckRequest >= (isRetransmit ? RETRANSMITS_PER_ACK : window.bytes() / packetBytes / 2)
                || cursorByte + 2 * packetBytes - unackedByte > window.bytes()
                || isRetransmit && cursor == unacked;
    }

    private int sendReadOrAtomic(SendRequest r, MemorySegment out, long at) {
        long end = partEnd(r, cursor);
        if (readsInFlight >= maxReads || !hasRoom(byteAt(r, end))) {
            return 0;
        }
        Opcode opcode = opcode(r, true, true);
        long headerAt = at + opcode.extensionOffset();
        Bth.write(out, at, opcode.code(), false, 0, QueuePairMachine.PARTITION_KEY, peerNumber, true, (int) cursor);
        if (opcode.hasXrcEth()) {
            XrcEth.write(out, at + Bth.LENGTH, r.remoteSharedReceiveQueue);
        }
        if (opcode.hasReth()) {
            long from = (cursor - r.firstSequence) * mtu;
            long length = Math.min(r.lengthBytes, (end - r.firstSequence) * mtu) - from;
            Reth.write(out, headerAt, r.remoteAddress + from, r.remoteKey, (int) length);
        } else {
            AtomicEth.write(out, headerAt, r.remoteAddress, r.remoteKey, r.swapOrAdd, r.compare);
        }
        sinceAckRequest = 0;
        readsInFlight++;
        moveCursor(r, end);
        return opcode.headerLength();
    }

    /** Returns the sequence after the READ part that contains {@code sequence}. An atomic has one part. */
    long partEnd(SendRequest r, long sequence) {
        long index = sequence - r.firstSequence;
        return Math.min(r.endSequence(), sequence - index % readPartPackets + readPartPackets);
    }

    private void moveCursor(SendRequest r, long to) {
        if (cursor < sentEnd) {
            counters.retransmittedPackets++;
        }
        cursor = to;
        cursorByte = byteAt(r, to);
        sentEnd = Math.max(sentEnd, to);
        if (to == r.endSequence()) {
            cursorIndex++;
        }
    }

    // ---- called by the completer ----

    /** Returns the oldest unacknowledged sequence. */
    long unacked() {
        return unacked;
    }

    /** Returns the sequence after the newest one ever sent. */
    long sentEnd() {
        return sentEnd;
    }

    int mtu() {
        return mtu;
    }

    /** Returns the validator of the peer's message sequence numbers. */
    MsnValidator messages() {
        return messages;
    }

    /**
     * Acknowledges everything before {@code end}, but stops at a READ or atomic without its response.
     *
     * @return {@code true} if everything before {@code end} is acknowledged
     */
    boolean acknowledge(long nowNanos, long end) {
        long reached = unacked;
        long index = queue.head();
        while (reached < end) {
            SendRequest r = queue.at(index++);
            if (r.opcode.isReadOrAtomic()) {
                break;
            }
            reached = Math.min(end, r.endSequence());
        }
        boolean isComplete = reached == end;
        if (reached > unacked) {
            advance(nowNanos, reached);
        }
        return isComplete;
    }

    /** Notes that response packet {@link #unacked} of the oldest work request, a READ or an atomic, was received. */
    void onAnswered(long nowNanos, SendRequest r) {
        long end = unacked + 1;
        if (end == partEnd(r, unacked) && end <= cursor) {
            readsInFlight--;
        }
        advance(nowNanos, end);
    }

    private void advance(long nowNanos, long to) {
        if (isProbing) {
            isProbing = false;
            if (to < retransmitEnd) { // otherwise only the response was lost or late
                window.onLoss(unacked, sentEnd);
            }
        }
        unacked = to;
        wentBack = false;
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
        rnrDeadline = NEVER;
        rnrBackOffs = 0;
        boolean isAhead = cursor < to; // the response is to packets sent before going back
        if (isAhead) {
            cursor = to;
            readsInFlight = 0;
            while (cursorIndex < assignedIndex && queue.at(cursorIndex).isDone(to)) {
                cursorIndex++;
            }
        }
        retransmitDeadline = unacked < cursor && timeoutNanos != NEVER ? nowNanos + timeoutNanos : NEVER;
        roundTrips.onAnswered(nowNanos, to);
        armProbeTimer(nowNanos);
        completeFinished();
        long reachedByte = queue.head() < assignedIndex ? byteAt(queue.at(queue.head()), to) : assignedByte;
        window.onAcknowledged(reachedByte - unackedByte);
        unackedByte = reachedByte;
        if (isAhead) {
            cursorByte = reachedByte;
        }
    }

    private void completeFinished() {
        while (queue.head() < assignedIndex) {
            SendRequest oldest = queue.at(queue.head());
            if (!oldest.isDone(unacked)) {
                return;
            }
            messages.onDone(messagesOf(oldest));
            queuePair.completeSend(oldest, WorkStatus.SUCCESS);
        }
    }

    /** Goes back to {@link #unacked} because a response indicates a loss; only once until something is acknowledged. */
    void goBackOnce() {
        if (!wentBack && rnrDeadline == NEVER) {
            wentBack = true;
            window.onLoss(unacked, sentEnd);
            consumeRetry();
        }
    }

    /**
     * Goes back to {@link #unacked} and starts an RNR back-off, because the peer had no receive posted. Resumes with a
     * single packet, since the peer would drop those that follow. The back-off grows with each consecutive RNR NAK up
     * to a limit.
     */
    void backOff(long nowNanos, int timerCode) {
        if (rnrDeadline != NEVER) {
            return;
        }
        if (rnrRetry != UNLIMITED_RNR_RETRY && rnrRetriesLeft-- == 0) {
            counters.rnrRetryExceededErrors++;
            queuePair.failSend(WorkStatus.RNR_RETRY_EXCEEDED_ERROR);
            return;
        }
        retriesLeft = retryCount; // the peer is alive
        rewind();
        long delayNanos = Timers.rnrNakDelayNanos(timerCode);
        long extraNanos = (delayNanos << Math.min(rnrBackOffs, MAX_BACK_OFF_DOUBLINGS)) - delayNanos;
        rnrDeadline = nowNanos + delayNanos + Math.min(extraNanos, MAX_EXTRA_BACK_OFF_NANOS);
        rnrBackOffs++;
    }

    private void consumeRetry() {
        if (unacked == sentEnd) {
            retransmitDeadline = NEVER;
            return;
        }
        if (retriesLeft == 0) {
            counters.retryExceededErrors++;
            queuePair.failSend(WorkStatus.RETRY_EXCEEDED_ERROR);
            return;
        }
        retriesLeft--;
        rewind();
    }

    private void rewind() {
        retransmitEnd = Math.max(retransmitEnd, cursor);
        cursor = unacked;
        cursorByte = unackedByte;
        cursorIndex = queue.head();
        readsInFlight = 0;
        sinceAckRequest = 0;
        isProbing = false;
        roundTrips.onRetransmit();
        probeDeadline = NEVER;
        retransmitDeadline = NEVER; // armed again when the first packet is sent
    }
}
