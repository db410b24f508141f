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
 * Sends the work requests of one queue pair: which packet is next, how many may be in flight, and when to begin again.
 *
 * <p>Packets are counted by sequences: PSNs continued to 64 bits, so that none of the arithmetic here wraps. An RDMA READ
 * has one sequence for each packet of its answer. Everything before {@link #unacked} is acknowledged; {@link #cursor} is
 * the next packet to send, and going back to {@link #unacked} is how packets are sent again (go-back-N, as Linux peers
 * expect). Beside the sequences runs a scale of bytes, which tells how much of the window is used.
 *
 * <p>Big READs are asked for in parts, on a grid of {@link #readPartPackets} from the first packet of the request, so
 * that a repeated request ends where the first one did.
 */
final class Requester {
    /** A silence that is shorter costs no retry, if the timeout allows that: software waits for a processor now and then. */
    static final long PATIENCE_NANOS = 50_000_000;

    /** A timeout of T may run out anywhere from T to so many T (C9-141). */
    private static final int MOST_TIMEOUTS = 4;

    /** Bytes in flight at first, well below what an ordinary UDP receive buffer holds. */
    static final int WINDOW_BYTES = 128 * 1024;

    /** The window may grow to so many times its first size: about what an ordinary UDP receive buffer holds. */
    private static final int WINDOW_GROWTH = 2;

    /**
     * What a packet counts at least, however short: that much of a receive buffer Linux takes for one. So at most 128
     * packets are in flight at first, as many as rdma_rxe ever has.
     */
    static final int LEAST_PACKET_BYTES = 1024;

    /**
     * The window is never larger: packets of a quarter of all PSNs. One of a half would already do, if nothing came late
     * (docs/model); a window of the usual size is far from both.
     */
    private static final long MOST_WINDOW_BYTES =
            Math.min(WINDOW_GROWTH * WINDOW_BYTES, (long) Psn.COUNT / 4 * LEAST_PACKET_BYTES);

    /** The window at first. */
    private static final long FIRST_WINDOW_BYTES = Math.min(WINDOW_BYTES, MOST_WINDOW_BYTES);

    /** Longest message, in bytes. */
    static final long MAX_MESSAGE_BYTES = 1L << 31;

    static final long NEVER = Long.MAX_VALUE;

    private static final int RNR_RETRY_WITHOUT_END = 7;

    /** How much longer than the peer says it is waited for a receive, at most. */
    private static final long MOST_MORE_WAIT_NANOS = 4_000_000;

    /** From the shortest time, 10 µs, these lead beyond that. */
    private static final int MOST_DOUBLINGS = 9;

    /** Packets sent again between two that ask for an acknowledgement: a lost answer must not cost all of them. */
    private static final int REPEATED_PER_ACK = 8;

    /** Messages in quick succession that ask for one acknowledgement together, if nobody waits for their completions. */
    static final int MESSAGES_PER_ACK = 16;

    /** How long ago the last acknowledgement was asked for at most while a message does not; a fraction of a suspicion. */
    static final long ASK_INTERVAL_NANOS = 50_000;

    private final RcQueuePair queuePair;
    private final MemoryTable memory;
    private final SendQueue queue;
    private final QueuePairCounters counters;

    private int peerNumber;
    private int mtu = 256;

    /** What a full packet counts. */
    private long packetBytes = LEAST_PACKET_BYTES;

    private final CongestionWindow window = new CongestionWindow();
    private int readPartPackets;
    private int maxReads;
    private int retryCount;
    private int rnrRetry;

    /** A silence that costs a retry; NEVER for none. */
    private long timeoutNanos;

    /** Oldest sequence that is not acknowledged. */
    private long unacked;

    /** Next sequence to send. */
    private long cursor;

    /** Work request that {@link #cursor} is in. */
    private long cursorIndex;

    /** Sequence behind the newest ever sent. */
    private long sentEnd;

    /** Next sequence to give to a work request, and the work request to get it. */
    private long assignedEnd;

    private long assignedIndex;

    /** Where {@link #unacked}, {@link #cursor} and {@link #assignedEnd} are on the scale of bytes. */
    private long unackedByte;

    private long cursorByte;
    private long assignedByte;

    /** READ parts and atomics between {@link #unacked} and {@link #cursor}. */
    private int readsInFlight;

    /** Messages on the wire of the work requests that have been begun, and of those that are done. */
    private final MsnValidator messages = new MsnValidator();

    private int sinceAckRequest;

    /** Sequence behind the newest packet that asked for an acknowledgement, and when it did. */
    private long askedEnd;

    private long askedNanos;

    /** Sequence up to which packets are sent again since going back. */
    private long repeatedEnd;

    private int retriesLeft;
    private int rnrRetriesLeft;

    /** Whether an answer made the requester go back and nothing was acknowledged since. */
    private boolean wentBack;

    private long retransmitDeadline = NEVER;
    private long rnrDeadline = NEVER;

    /** How often in a row the peer had no receive posted. */
    private int receiverWaits;

    private final RoundTripEstimator roundTrips = new RoundTripEstimator();
    private boolean repeatsEarly;

    /** When one packet is sent again though the peer may still answer. */
    private long suspicionDeadline = NEVER;

    /** Whether that packet is under way, and nothing else goes until the peer has said what it has. */
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
        packetBytes = Math.max(LEAST_PACKET_BYTES, mtu);
        window.start(FIRST_WINDOW_BYTES, MOST_WINDOW_BYTES, packetBytes, p.sendPsn());
        readPartPackets = (int) (FIRST_WINDOW_BYTES / packetBytes);
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
        askedEnd = unacked;
        repeatedEnd = unacked;
        readsInFlight = 0;
        isProbing = false;
        receiverWaits = 0;
        roundTrips.reset();
        messages.reset();
        stopTimers();
    }

    /** How long a silence lasts before it costs a retry: where losses are repaired before that, it need not be short. */
    static long silenceNanos(long timeoutNanos, boolean repeatsEarly) {
        boolean isShort = repeatsEarly && timeoutNanos < PATIENCE_NANOS;
        return isShort ? Math.min(PATIENCE_NANOS, MOST_TIMEOUTS * timeoutNanos) : timeoutNanos;
    }

    /** Sets what may change while nothing is under way. */
    void change(RcQueuePair.SendParameters p) {
        maxReads = p.maxReadAtomic();
        retryCount = p.retryCount();
        rnrRetry = p.rnrRetry();
        repeatsEarly = p.repeatsEarly();
        timeoutNanos = p.silenceNanos();
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
    }

    /** Whether a work request has been begun and is not completed. */
    boolean hasBegun() {
        return queue.head() < assignedIndex;
    }

    void stopTimers() {
        retransmitDeadline = NEVER;
        suspicionDeadline = NEVER;
        rnrDeadline = NEVER;
    }

    long nextDeadlineNanos() {
        return Math.min(Math.min(retransmitDeadline, suspicionDeadline), rnrDeadline);
    }

    void onDeadline(long nowNanos) {
        if (nowNanos >= rnrDeadline) {
            rnrDeadline = NEVER;
        }
        if (nowNanos >= retransmitDeadline) {
            counters.timeouts++;
            wentBack = false;
            window.onSilence(sentEnd);
            spendRetry();
        } else if (nowNanos >= suspicionDeadline) {
            suspicionDeadline = NEVER;
            repeatEarly();
        }
    }

    /**
     * Sends the oldest packet again, alone: the answer tells what the peer has. No retry is spent, and the peer gets no more
     * time until it is given up.
     */
    private void repeatEarly() {
        if (unacked == sentEnd || rnrDeadline != NEVER) {
            return;
        }
        if (unacked < askedEnd) {
            counters.earlyRepetitions++;
            roundTrips.onProbe();
        } // else the peer was asked for nothing yet
        long giveUp = retransmitDeadline;
        rewind();
        isProbing = true;
        retransmitDeadline = giveUp;
    }

    /** Whether what reaches to {@code endByte} may be in flight now; one packet, or one part of a READ, always may. */
    private boolean hasRoom(long endByte) {
        if (cursor == unacked || !isProbing && receiverWaits == 0 && endByte - unackedByte <= window.bytes()) {
            return true;
        }
        window.onLimit();
        return false;
    }

    /** Misses an answer after a while, if one is waited for. */
    private void suspectAfter(long nowNanos) {
        suspicionDeadline = repeatsEarly && unacked < cursor ? nowNanos + roundTrips.probeTimeoutNanos() : NEVER;
    }

    // ---- sending ----

    /** Writes the next packet; 0 if there is none that may be sent now. */
    int pollTransmit(long nowNanos, MemorySegment out, long at) {
        while (rnrDeadline == NEVER && cursorIndex != queue.tail() && queuePair.isSending()) {
            SendRequest r = queue.at(cursorIndex);
            if (cursorIndex == assignedIndex && !begin(r)) {
                return 0;
            }
            if (r.failure != null || !r.opcode.isLocal()) {
                return transmit(nowNanos, r, out, at);
            }
            cursorIndex++; // done when it was begun, however often its turn comes
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
                if (suspicionDeadline == NEVER) {
                    suspectAfter(nowNanos);
                }
                if (sinceAckRequest == 0) {
                    askedEnd = Math.max(askedEnd, cursor);
                    askedNanos = nowNanos;
                    if (cursor == sentEnd && cursor > repeatedEnd) {
                        roundTrips.onSent(nowNanos, cursor - 1);
                    }
                }
                return written;
            }
        }
        WorkStatus failure = r.failure;
        if (failure != null && cursorIndex == queue.head()) {
            queuePair.failSend(failure); // everything before it is done, so completions stay in order
        }
        return 0;
    }

    /**
     * Gives a work request its sequences when its turn comes, or does it if it is local; false while a fence or the state
     * holds it back.
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

    /** Messages on the wire: a big READ is one for each part that is asked for, what is done here is none. */
    private int messagesOf(SendRequest r) {
        return r.opcode == WorkOpcode.RDMA_READ
                ? (r.packets + readPartPackets - 1) / readPartPackets
                : Math.min(r.packets, 1);
    }

    /** What the packets of a work request count together. */
    private long bytesOf(SendRequest r) {
        int full = r.packets - 1;
        return full < 0 ? 0 : full * packetBytes + Math.max(LEAST_PACKET_BYTES, r.lengthBytes - (long) full * mtu);
    }

    /** Where a sequence of a work request, or the one behind it, is on the scale of bytes. */
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
        boolean asksAck = mustAskAck() || isLast && !mayAskLater(nowNanos, r);
        int written = PayloadPackets.write(
                r, queuePair.protectionDomain(), index, mtu, opcode, peerNumber, asksAck, (int) cursor, out, at);
        if (written == 0) {
            r.failure = WorkStatus.LOCAL_PROTECTION_ERROR;
            return 0;
        }
        if (asksAck) {
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
     * Whether a message need not ask for an acknowledgement of its own: nobody waits for its completion, and messages follow
     * one another so quickly that one of the next will ask. If none follows, the peer is asked when its answer is missed.
     */
    private boolean mayAskLater(long nowNanos, SendRequest r) {
        return repeatsEarly
                && !queuePair.isSignaled(r)
                && sinceAckRequest < MESSAGES_PER_ACK
                && nowNanos - askedNanos < ASK_INTERVAL_NANOS
                && cursor >= repeatedEnd
                && queue.tail() - queue.head() <= queue.capacity() / 2
                && roundTrips.isKnown();
    }

    /** Whether a full packet, or the last one of a message, must ask for an acknowledgement, so that the window moves on. */
    private boolean mustAskAck() {
        sinceAckRequest++;
        boolean isRepeated = cursor < repeatedEnd;
        return sinceAckRequest >= (isRepeated ? REPEATED_PER_ACK : window.bytes() / packetBytes / 2)
                || cursorByte + 2 * packetBytes - unackedByte > window.bytes()
                || isRepeated && cursor == unacked;
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

    /** Sequence behind the part of a READ that {@code sequence} is in; an atomic has one part. */
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

    // ---- what the completer tells ----

    /** Oldest sequence that is not acknowledged. */
    long unacked() {
        return unacked;
    }

    /** Sequence behind the newest ever sent. */
    long sentEnd() {
        return sentEnd;
    }

    int mtu() {
        return mtu;
    }

    /** What the peer may have counted. */
    MsnValidator messages() {
        return messages;
    }

    /** Whether the peer's receiver is being given time. */
    boolean isWaitingForReceiver() {
        return rnrDeadline != NEVER;
    }

    /**
     * Takes everything before {@code end} as done, as far as no READ or atomic without its answer stands in between.
     *
     * @return whether all of it is done
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
        boolean all = reached == end;
        if (reached > unacked) {
            advance(nowNanos, reached);
        }
        return all;
    }

    /** Takes the answer packet {@link #unacked} of the oldest work request, a READ or an atomic, as received. */
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
            if (to < repeatedEnd) { // else only the answer was lost, or late
                window.onLoss(unacked, sentEnd);
            }
        }
        unacked = to;
        wentBack = false;
        retriesLeft = retryCount;
        rnrRetriesLeft = rnrRetry;
        rnrDeadline = NEVER;
        receiverWaits = 0;
        boolean isAhead = cursor < to; // answers to packets sent before going back
        if (isAhead) {
            cursor = to;
            readsInFlight = 0;
            while (cursorIndex < assignedIndex && queue.at(cursorIndex).isDone(to)) {
                cursorIndex++;
            }
        }
        retransmitDeadline = unacked < cursor && timeoutNanos != NEVER ? nowNanos + timeoutNanos : NEVER;
        roundTrips.onAnswered(nowNanos, to);
        suspectAfter(nowNanos);
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

    /** Begins again at {@link #unacked} because an answer shows a loss; once until something is acknowledged. */
    void goBackOnce() {
        if (!wentBack && rnrDeadline == NEVER) {
            wentBack = true;
            window.onLoss(unacked, sentEnd);
            spendRetry();
        }
    }

    /**
     * Waits and begins again at {@link #unacked}, because the peer had no receive posted: with one packet, since what follows
     * would be dropped too. A receiver that stays unready is asked less and less often, but soon enough.
     */
    void waitForReceiver(long nowNanos, int timerCode) {
        if (rnrDeadline != NEVER) {
            return;
        }
        if (rnrRetry != RNR_RETRY_WITHOUT_END && rnrRetriesLeft-- == 0) {
            counters.rnrRetryExceededErrors++;
            queuePair.failSend(WorkStatus.RNR_RETRY_EXCEEDED_ERROR);
            return;
        }
        retriesLeft = retryCount; // the peer is alive
        rewind();
        long leastNanos = Timers.rnrNakDelayNanos(timerCode);
        long moreNanos = (leastNanos << Math.min(receiverWaits, MOST_DOUBLINGS)) - leastNanos;
        rnrDeadline = nowNanos + leastNanos + Math.min(moreNanos, MOST_MORE_WAIT_NANOS);
        receiverWaits++;
    }

    private void spendRetry() {
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
        repeatedEnd = Math.max(repeatedEnd, cursor);
        cursor = unacked;
        cursorByte = unackedByte;
        cursorIndex = queue.head();
        readsInFlight = 0;
        sinceAckRequest = 0;
        isProbing = false;
        roundTrips.onRetransmit();
        suspicionDeadline = NEVER;
        retransmitDeadline = NEVER; // set again when the first packet leaves
    }
}
