package io.rdma4j.transport;

/**
 * Determines which ICRC a peer expects in a FLUSH. Linux's rdma_rxe silently drops a FLUSH with the ICRC of the
 * specification (see {@link io.rdma4j.wire.Icrc}). A retransmitted FLUSH therefore has the other ICRC, until a FLUSH
 * that was sent only once is answered.
 */
final class FlushIcrc {
    private boolean isOfLinux;
    private boolean isKnown;
    private boolean wasRepeated;

    /** Starts with the ICRC of the specification. */
    void start() {
        isOfLinux = false;
        isKnown = false;
        wasRepeated = false;
    }

    /** Returns whether the next FLUSH has the ICRC of Linux. */
    boolean isOfLinux() {
        return isOfLinux;
    }

    /** Notes that the oldest request, a FLUSH, is retransmitted because the peer is silent. */
    void onRepeated() {
        wasRepeated = true;
        if (!isKnown) {
            isOfLinux = !isOfLinux;
        }
    }

    /** Notes that the peer has answered a FLUSH. */
    void onAnswered() {
        isKnown |= !wasRepeated;
        wasRepeated = false;
    }
}
