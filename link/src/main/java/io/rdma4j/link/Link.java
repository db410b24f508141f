package io.rdma4j.link;

import java.io.IOException;

/**
 * A way for frames in and out of this process on one local address.
 *
 * <p>A link moves bytes and judges nothing: it neither reads nor computes the ICRC. Frames may be lost, doubled and
 * reordered on the way, as on any network; a frame that the kernel would not take counts as lost. Not thread safe: one
 * thread at a time, except {@link #statistics}.
 *
 * <p>Links are wrapped to add a capture, faults or a trace; a wrapper is a link.
 */
public interface Link extends AutoCloseable {
    /** What this link can do. It may turn out to be less than it promised: ask before each burst. */
    LinkCapabilities capabilities();

    /** The local address and UDP port that frames leave from. */
    java.net.InetSocketAddress localAddress();

    /**
     * Sends all frames of a burst. What the kernel does not take at once (a full buffer, a filter, a closed port at the
     * peer) is dropped and counted, never thrown: the transport's retransmission covers it.
     *
     * @param burst sealed frames to one destination; its memory may be used again when the call returns
     */
    void send(SendBurst burst);

    /**
     * Takes frames that have arrived, without waiting; some of them perhaps, but not none. The burst's frames point into memory of the burst or of the link
     * and are valid until the next call with the same burst.
     *
     * @param burst cleared and filled by this call
     * @return the number of frames in the burst
     */
    int poll(ReceiveBurst burst);

    /**
     * When this link needs {@link #poll} next though nothing arrives, since it holds frames back (a delay fault does);
     * a bound for whoever waits.
     *
     * @return a time of the clock that the link was given, or {@link Long#MAX_VALUE} for none
     */
    default long nextDeadlineNanos() {
        return Long.MAX_VALUE;
    }

    /** Counts of what went through and what was lost here; may be read from any thread. */
    LinkStatistics statistics();

    /** Closes the link; closing twice does nothing. */
    @Override
    void close() throws IOException;
}
