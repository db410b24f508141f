package io.rdma4j.transport;

import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Psn;
import org.jspecify.annotations.Nullable;

/**
 * The send window of a reliable queue pair: which packets are in flight and how many more may be sent.
 *
 * <p>Packets are identified by sequences: PSNs extended to 64 bits, so that arithmetic here never wraps. An RDMA READ
 * uses one sequence for each packet of its response. Everything before {@link #unacked} is acknowledged, and
 * {@link #cursor} is the next packet to send. Retransmission resets the cursor to {@link #unacked} (go-back-N, as Linux
 * peers expect). A byte count runs in parallel to the sequences and determines how much of the congestion window is in
 * use.
 *
 * <p>Long READs are requested in parts (decision 004), aligned to multiples of a fixed number of packets from the first
 * packet of the request. A repeated request thus ends where the original one did.
 */
final class SendWindow {
    /** Initial congestion window in bytes, well below the size of an ordinary UDP receive buffer. */
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

    private final CongestionWindow congestion = new CongestionWindow();
    private int mtu = 256;

    /** Weight of a full packet in bytes. */
    private long packetBytes = MIN_PACKET_BYTES;

    private int readPartPackets;
    private int maxReads;

    /** Oldest unacknowledged sequence. */
    private long unacked;

    /** Next sequence to send. */
    private long cursor;

    /** Sequence after the newest one ever sent. */
    private long sentEnd;

    /** End of the sequences being retransmitted since going back. */
    private long retransmitEnd;

    /** Next sequence to assign to a work request. */
    private long assignedEnd;

    /** Byte counts of {@link #unacked}, {@link #cursor} and {@link #assignedEnd}. */
    private long unackedByte;

    private long cursorByte;
    private long assignedByte;

    /** Number of READ parts and atomics between {@link #unacked} and {@link #cursor}. */
    private int readsInFlight;

    /** Starts with an empty window at a PSN. */
    void start(int psn, int pathMtuBytes) {
        mtu = pathMtuBytes;
        packetBytes = Math.max(MIN_PACKET_BYTES, mtu);
        congestion.start(INITIAL_WINDOW_BYTES, MAX_WINDOW_BYTES, packetBytes, psn);
        readPartPackets = (int) (INITIAL_WINDOW_BYTES / packetBytes);
        unacked = psn;
        cursor = psn;
        sentEnd = psn;
        retransmitEnd = psn;
        assignedEnd = psn;
        unackedByte = 0;
        cursorByte = 0;
        assignedByte = 0;
        readsInFlight = 0;
    }

    /** Sets the maximum number of READs and atomics in flight. */
    void limitReads(int max) {
        maxReads = max;
    }

    /** Returns the payload bytes of a full packet. */
    int mtu() {
        return mtu;
    }

    /** Returns the maximum number of READs and atomics in flight. */
    int maxReads() {
        return maxReads;
    }

    /** Returns the oldest unacknowledged sequence. */
    long unacked() {
        return unacked;
    }

    /** Returns the next sequence to send. */
    long cursor() {
        return cursor;
    }

    /** Returns the sequence after the newest one ever sent. */
    long sentEnd() {
        return sentEnd;
    }

    /** Returns whether packets before the cursor are unacknowledged. */
    boolean isInFlight() {
        return unacked < cursor;
    }

    /** Returns whether every packet ever sent is acknowledged. */
    boolean isAcknowledged() {
        return unacked == sentEnd;
    }

    /** Returns whether the next packet is one that was in flight when the cursor was last reset. */
    boolean isRetransmitting() {
        return cursor < retransmitEnd;
    }

    /** Returns whether the packet just sent was sent for the first time. */
    boolean isFirstTransmission() {
        return cursor == sentEnd && cursor > retransmitEnd;
    }

    // ---- work requests ----

    /** Assigns the next sequences to a work request; 0 packets to a local one. */
    void assign(SendRequest r, int packets) {
        r.packets = packets;
        r.firstSequence = assignedEnd;
        r.firstByte = assignedByte;
        assignedEnd += packets;
        assignedByte += weightBytes(r);
        r.endByte = assignedByte;
    }

    /** Returns the total weight of the packets of a work request. */
    private long weightBytes(SendRequest r) {
        int full = r.packets - 1;
        return full < 0 ? 0 : full * packetBytes + Math.max(MIN_PACKET_BYTES, r.lengthBytes - (long) full * mtu);
    }

    /** Returns the byte count at a sequence of a work request or at its end. */
    private long byteAt(SendRequest r, long sequence) {
        return sequence == r.endSequence() ? r.endByte : r.firstByte + (sequence - r.firstSequence) * packetBytes;
    }

    /** Returns the number of messages on the wire: one for each part of a READ, none for a local operation. */
    int messageCount(SendRequest r) {
        return r.opcode == SendOpcode.RDMA_READ
                ? (r.packets + readPartPackets - 1) / readPartPackets
                : Math.min(r.packets, 1);
    }

    /** Returns the sequence after the READ part that contains {@code sequence}. An atomic has one part. */
    long partEnd(SendRequest r, long sequence) {
        long index = sequence - r.firstSequence;
        return Math.min(r.endSequence(), sequence - index % readPartPackets + readPartPackets);
    }

    // ---- sending ----

    /**
     * Returns whether packets up to {@code end} of a work request may be in flight now. One packet, or one part of a
     * READ, is always allowed.
     *
     * @param isOnlyOne {@code true} if no second one is allowed, whatever the congestion window is
     */
    boolean hasRoom(SendRequest r, long end, boolean isOnlyOne) {
        if (cursor == unacked || !isOnlyOne && byteAt(r, end) - unackedByte <= congestion.bytes()) {
            return true;
        }
        congestion.onLimit();
        return false;
    }

    /** Returns whether another READ or atomic may be in flight. */
    boolean hasRoomForRead() {
        return readsInFlight < maxReads;
    }

    /** Returns whether READs or atomics are in flight. */
    boolean hasReads() {
        return readsInFlight > 0;
    }

    /** Returns whether the window has no room for two full packets. */
    boolean isNearlyFull() {
        return cursorByte + 2 * packetBytes - unackedByte > congestion.bytes();
    }

    /** Returns the size of the congestion window in full packets. */
    long windowPackets() {
        return congestion.bytes() / packetBytes;
    }

    /** Notes that the packets of a work request up to {@code end} were sent. */
    void onSent(SendRequest r, long end) {
        cursor = end;
        cursorByte = byteAt(r, end);
        sentEnd = Math.max(sentEnd, end);
    }

    /** Notes that a READ part or an atomic was sent. */
    void onReadSent() {
        readsInFlight++;
    }

    /** Moves the cursor back to the oldest unacknowledged packet. */
    void rewind() {
        retransmitEnd = Math.max(retransmitEnd, cursor);
        cursor = unacked;
        cursorByte = unackedByte;
        readsInFlight = 0;
    }

    // ---- responses ----

    /** Notes that the response packet {@link #unacked} of a READ or an atomic was received. */
    void onReadResponse(SendRequest r) {
        long end = unacked + 1;
        if (end == partEnd(r, unacked) && end <= cursor) {
            readsInFlight--;
        }
    }

    /**
     * Moves the start of the window to a sequence, and the cursor if the response is to packets sent before going back; {@link
     * #onAcknowledgedBytes} must follow.
     */
    void acknowledge(long to) {
        unacked = to;
        if (cursor < to) {
            cursor = to;
            readsInFlight = 0;
        }
    }

    /**
     * Updates the byte counts to those at {@link #unacked}, and the congestion window.
     *
     * @param oldest the oldest work request that is started and not completed, or null if there is none
     */
    void onAcknowledgedBytes(@Nullable SendRequest oldest) {
        long reachedByte = oldest == null ? assignedByte : byteAt(oldest, unacked);
        congestion.onAcknowledged(reachedByte - unackedByte);
        unackedByte = reachedByte;
        if (cursor == unacked) {
            cursorByte = reachedByte;
        }
    }

    /**
     * Notes that the peer responded to a tail-loss probe. If the response does not acknowledge everything that was in
     * flight, the oldest packet was lost; otherwise only a response was lost or late. Precedes {@link #acknowledge}.
     */
    void onProbeAcknowledged(long to) {
        if (to < retransmitEnd) {
            onLoss();
        }
    }

    /** Shrinks the congestion window because the oldest packet was lost. */
    void onLoss() {
        congestion.onLoss(unacked, sentEnd);
    }

    /** Shrinks the congestion window to its minimum because of an acknowledgement timeout. */
    void onTimeout() {
        congestion.onSilence(sentEnd);
    }
}
