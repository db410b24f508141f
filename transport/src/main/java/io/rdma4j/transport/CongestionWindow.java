package io.rdma4j.transport;

/**
 * How much may be in flight: additive increase and multiplicative decrease, as TCP shares a link since RFC 5681, with the
 * gentler decrease of CUBIC (RFC 9438, 4.6), since a loss here costs all that was sent behind it as well.
 *
 * <p>It is counted in bytes; what a packet counts is the requester's to say. It opens while the window, and not the
 * application, is what holds packets back: by what is acknowledged up to the size that last went well, from there on by
 * {@value #INCREASE_BYTES} bytes per window. It closes once per window in which a packet was lost, now and then when it is
 * as open as it may be, and to the least when the acknowledgement time-out has passed in silence.
 */
final class CongestionWindow {
    /** Full packets that may be in flight whatever happens. */
    static final int LEAST_PACKETS = 4;

    /** The same for all path MTUs, or else connections with small packets would get the smaller share. */
    private static final int INCREASE_BYTES = 4096;

    /** What is left of the window after a loss, in percent. */
    private static final int DECREASE_PERCENT = 70;

    /** A window that is as open as it may be stays so for so many windows of packets. */
    private static final int OPEN_WINDOWS = 64;

    private long packetBytes;
    private long most;
    private long bytes;
    private long threshold;

    /** Bytes acknowledged towards the next opening of the window. */
    private long credit;

    /** Whether the window has held a packet back since it was opened last. */
    private boolean isLimiting;

    /** Losses of packets before this sequence are the loss that the window was closed for. */
    private long recoveryEnd;

    /**
     * Begins.
     *
     * @param packetBytes what a full packet counts
     * @param sequence of the first packet
     */
    void start(long initialBytes, long mostBytes, long packetBytes, long sequence) {
        this.packetBytes = packetBytes;
        most = Math.max(leastBytes(), mostBytes);
        bytes = Math.clamp(initialBytes, leastBytes(), most);
        threshold = most;
        credit = 0;
        isLimiting = false;
        recoveryEnd = sequence;
    }

    private long leastBytes() {
        return LEAST_PACKETS * packetBytes;
    }

    /** Bytes that may be in flight. */
    long bytes() {
        return bytes;
    }

    /** A packet was held back since the window is full. */
    void onLimit() {
        isLimiting = true;
    }

    /** So many bytes more are acknowledged. */
    void onAcknowledged(long count) {
        if (!isLimiting) {
            return;
        }
        isLimiting = false;
        if (bytes == most) {
            giveWay(count);
            return;
        }
        if (bytes < threshold) {
            bytes = Math.min(threshold, bytes + count);
            return;
        }
        credit += Math.min(count, bytes);
        if (credit >= bytes) {
            credit -= bytes;
            bytes = Math.min(most, bytes + INCREASE_BYTES);
        }
    }

    /** The window has been open for a while: it closes as after a loss, so that others find room in the buffers on the way. */
    private void giveWay(long count) {
        credit += Math.min(count, bytes);
        if (credit >= OPEN_WINDOWS * bytes) {
            close();
        }
    }

    private void close() {
        threshold = Math.max(leastBytes(), bytes * DECREASE_PERCENT / 100);
        bytes = threshold;
        credit = 0;
    }

    /** Packet {@code sequence} was lost, and packets before {@code sentEnd} have been sent. */
    void onLoss(long sequence, long sentEnd) {
        if (sequence < recoveryEnd) {
            return;
        }
        recoveryEnd = sentEnd;
        close();
    }

    /** Nothing was heard for a whole time-out. */
    void onSilence(long sentEnd) {
        recoveryEnd = sentEnd;
        threshold = Math.max(leastBytes(), bytes / 2);
        bytes = leastBytes();
        credit = 0;
    }
}
