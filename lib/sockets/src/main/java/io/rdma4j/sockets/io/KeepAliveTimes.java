package io.rdma4j.sockets.io;

/**
 * The times of keep-alives. With keep-alives, a connection without traffic detects a dead peer.
 *
 * @param idleSeconds the time between two keep-alives in seconds; 0 for none
 * @param limitSeconds the time in seconds for which a keep-alive may stay unanswered before the connection is reset.
 *     The queue pair gives up the peer after {@link StreamConnecting#MIN_PAUSE_NANOS} anyway
 */
public record KeepAliveTimes(int idleSeconds, long limitSeconds) {
    /** No keep-alives. */
    public static final KeepAliveTimes NONE = new KeepAliveTimes(0, Integer.MAX_VALUE);
}
