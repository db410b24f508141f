package io.rdma4j.testkit;

/**
 * A link of limited speed with a buffer before it: frames pass one after the other, and one that finds the buffer full is
 * lost, as at the port of a switch. In virtual time. Not thread safe.
 */
final class SlowLink {
    /** Ethernet, IPv4 and UDP around what a frame holds. */
    private static final int HEADERS_BYTES = 14 + 4 + 20 + 8;

    /** {@link #pass}'s answer for a frame that is lost. */
    static final long LOST = -1;

    private final double nanosPerByte;
    private final long bufferNanos;
    private long freeAtNanos;

    /**
     * Creates a link that is idle.
     *
     * @param bytesPerSecond its speed, headers included
     * @param bufferBytes what may wait
     */
    SlowLink(long bytesPerSecond, long bufferBytes) {
        nanosPerByte = 1e9 / bytesPerSecond;
        bufferNanos = Math.round(bufferBytes * nanosPerByte);
    }

    /** When a frame that comes now has passed, or {@link #LOST}. */
    long pass(long nowNanos, int frameBytes) {
        long begin = Math.max(nowNanos, freeAtNanos);
        if (begin - nowNanos > bufferNanos) {
            return LOST;
        }
        freeAtNanos = begin + Math.round((frameBytes + HEADERS_BYTES) * nanosPerByte);
        return freeAtNanos;
    }
}
