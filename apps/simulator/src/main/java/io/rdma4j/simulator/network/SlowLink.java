package io.rdma4j.simulator.network;

/**
 * A link of limited speed with a buffer before it, in virtual time.
 *
 * <p>Frames are transmitted one after the other. A frame that finds the buffer full is lost, as at a switch port. A
 * frame of an ECN-capable sender is marked if the buffer contains more than a limit. Not thread safe.
 */
final class SlowLink {
    /** The Ethernet header and FCS, IPv4 and UDP headers around a frame. */
    private static final int HEADERS_BYTES = 14 + 4 + 20 + 8;

    /** Returned by {@link #transmit} for a lost frame. */
    static final long LOST = -1;

    private final double nanosPerByte;
    private final long bufferNanos;
    private final long markNanos;
    private long freeAtNanos;

    /**
     * Creates an idle link.
     *
     * @param bytesPerSecond speed, including headers
     * @param bufferBytes capacity of the buffer
     * @param markBytes bytes in the buffer above which frames are marked
     */
    SlowLink(long bytesPerSecond, long bufferBytes, long markBytes) {
        nanosPerByte = 1e9 / bytesPerSecond;
        bufferNanos = Math.round(bufferBytes * nanosPerByte);
        markNanos = Math.round(markBytes * nanosPerByte);
    }

    /** Returns whether a frame that is sent now is marked, if its sender is capable. Precedes {@link #transmit}. */
    boolean isMarking(long nowNanos) {
        return freeAtNanos - nowNanos > markNanos;
    }

    /** Returns the time at which a frame that is sent now has been transmitted, or {@link #LOST}. */
    long transmit(long nowNanos, int frameBytes) {
        long begin = Math.max(nowNanos, freeAtNanos);
        if (begin - nowNanos > bufferNanos) {
            return LOST;
        }
        freeAtNanos = begin + Math.round((frameBytes + HEADERS_BYTES) * nanosPerByte);
        return freeAtNanos;
    }
}
