package io.rdma4j.transport;

/**
 * Limits the bytes in flight by additive increase and multiplicative decrease, as TCP shares a link (RFC 5681). The
 * decrease is the gentler one of CUBIC (RFC 9438, 4.6), since a loss here also costs everything that was sent after it
 * (decision 019).
 *
 * <p>The window is counted in bytes; the requester defines the weight of a packet. It grows only while it is what
 * limits transmission. Up to the slow-start threshold it grows by the acknowledged bytes, beyond that by
 * {@value #INCREASE_BYTES} bytes per window. It shrinks once per window in which a packet was lost, periodically while
 * it is at its maximum, and to the minimum after an acknowledgement timeout.
 */
final class CongestionWindow {
    /** Minimum window, in full packets. */
    static final int MIN_PACKETS = 4;

    /** Independent of the path MTU, so that connections with small packets get an equal share. */
    private static final int INCREASE_BYTES = 4096;

    /** Percentage of the window that remains after a loss. */
    private static final int DECREASE_PERCENT = 70;

    /** Number of windows transferred at the maximum size before the window shrinks voluntarily. */
    private static final int OPEN_WINDOWS = 64;

    private long packetBytes;
    private long maxBytes;
    private long bytes;
    private long threshold;

    /** Bytes acknowledged towards the next increase of the window. */
    private long credit;

    /** True if the window has held back a packet since the last increase. */
    private boolean isLimiting;

    /** End of recovery: losses before this sequence belong to the loss that already shrank the window. */
    private long recoveryEnd;

    /**
     * Starts with an initial window.
     *
     * @param packetBytes weight of a full packet
     * @param sequence sequence of the first packet
     */
    void start(long initialBytes, long limitBytes, long packetBytes, long sequence) {
        this.packetBytes = packetBytes;
        maxBytes = Math.max(minBytes(), limitBytes);
        bytes = Math.clamp(initialBytes, minBytes(), maxBytes);
        threshold = maxBytes;
        credit = 0;
        isLimiting = false;
        recoveryEnd = sequence;
    }

    private long minBytes() {
        return MIN_PACKETS * packetBytes;
    }

    /** Returns the window: the bytes that may be in flight. */
    long bytes() {
        return bytes;
    }

    /** Notes that a packet was held back because the window is full. */
    void onLimit() {
        isLimiting = true;
    }

    /** Notes the acknowledgement of {@code count} more bytes. */
    void onAcknowledged(long count) {
        if (!isLimiting) {
            return;
        }
        isLimiting = false;
        if (bytes == maxBytes) {
            shrinkPeriodically(count);
            return;
        }
        if (bytes < threshold) {
            bytes = Math.min(threshold, bytes + count);
            return;
        }
        credit += Math.min(count, bytes);
        if (credit >= bytes) {
            credit -= bytes;
            bytes = Math.min(maxBytes, bytes + INCREASE_BYTES);
        }
    }

    /**
     * Shrinks the window, as after a loss, after a while at its maximum. This leaves room for other connections in the
     * buffers of the path.
     */
    private void shrinkPeriodically(long count) {
        credit += Math.min(count, bytes);
        if (credit >= OPEN_WINDOWS * bytes) {
            shrink();
        }
    }

    private void shrink() {
        threshold = Math.max(minBytes(), bytes * DECREASE_PERCENT / 100);
        bytes = threshold;
        credit = 0;
    }

    /** Notes the loss of packet {@code sequence}; packets before {@code sentEnd} have been sent. */
    void onLoss(long sequence, long sentEnd) {
        if (sequence < recoveryEnd) {
            return;
        }
        recoveryEnd = sentEnd;
        shrink();
    }

    /** Notes an acknowledgement timeout. */
    void onSilence(long sentEnd) {
        recoveryEnd = sentEnd;
        threshold = Math.max(minBytes(), bytes / 2);
        bytes = minBytes();
        credit = 0;
    }
}
