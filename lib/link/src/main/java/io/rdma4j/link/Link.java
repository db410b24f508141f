package io.rdma4j.link;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * A path for frames in and out of this process on one local address.
 *
 * <p>A link transports bytes and does not interpret them: it neither checks nor computes the ICRC. Frames may be lost, duplicated
 * and reordered, as on any network. A frame that the kernel refuses is treated as lost. Not thread safe: one thread at a time may
 * use a link, except for {@link #statistics}.
 *
 * <p>Links are wrapped to add a capture, faults or a trace; the wrapper is itself a link.
 */
public interface Link extends AutoCloseable {
    /**
     * Returns the capabilities of this link. They may shrink while the link is in use: check them before each burst.
     */
    LinkCapabilities capabilities();

    /** Returns the local address and UDP port that frames are sent from. */
    java.net.InetSocketAddress localAddress();

    /**
     * Sends all frames of a burst. Frames that the kernel does not accept immediately (a full buffer, a filter, a closed port at
     * the peer) are dropped and counted. No exception is thrown, because the transport retransmits.
     *
     * @param burst sealed frames to one destination; its memory may be reused when the call returns
     */
    void send(SendBurst burst);

    /**
     * Returns whether the frames of a burst need an ICRC: they do unless they stay in memory of this host.
     *
     * @param burst a burst for one queue pair; its first frame is complete except for the ICRC
     */
    default boolean needsIcrc(SendBurst burst) {
        return true;
    }

    /**
     * Returns whether there is room for packets to a queue pair, so that {@link #send} does not drop them before they leave this process.
     * True if that is not known in advance.
     *
     * @param destinationHigh upper half of the address in GID form
     * @param destinationLow lower half of the address
     * @param queuePairNumber number of the destination queue pair
     * @param bytes bytes of the packets
     */
    default boolean hasRoom(long destinationHigh, long destinationLow, int queuePairNumber, int bytes) {
        return true;
    }

    /**
     * Opens a flow, from which {@link SendBurst#flow} sends bursts. If there are already many, the flow may have another port.
     *
     * @param sourcePort the UDP source port that is wanted
     * @return the flow, or null if this link sends everything from its own port, or another process has the port
     */
    default @Nullable Flow openFlow(int sourcePort) {
        return null;
    }

    /**
     * Receives frames that have arrived, without waiting. The call may return only some of the pending frames, but
     * returns at least one if any is pending. The burst's frames point into memory of the burst or of the link and are
     * valid until the next call with the same burst.
     *
     * @param burst cleared and filled by this call
     * @return the number of frames in the burst
     */
    int poll(ReceiveBurst burst);

    /**
     * Returns the time at which this link needs {@link #poll} even if no frame arrives, because it holds frames back, like a
     * delay fault. A caller must not wait longer than that.
     *
     * @return a time of the clock that the link was given, or {@link Long#MAX_VALUE} for none
     */
    default long nextDeadlineNanos() {
        return Long.MAX_VALUE;
    }

    /**
     * Directs the port's input to this link again, if {@link LinkSet#openBeside} has opened it; otherwise has no effect. Costs a
     * system call or two. The link must be polled between two calls.
     */
    default void claimInput() {}

    /**
     * Leaves the port's input to the process that has taken it with {@link LinkSet#openBeside}. The link still sends from the
     * port. Links that {@link LinkSet#openSteered} has opened on the port no longer receive anything.
     */
    default void abandonInput() {}

    /** Returns the counters of frames sent, received and lost by this link. May be read by any thread. */
    LinkStatistics statistics();

    /** Closes the link. Closing it again has no effect. */
    @Override
    void close() throws IOException;
}
