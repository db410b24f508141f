package io.rdma4j.bench.worker;

/** Thrown if this machine lacks a library or tool to measure; the one-line message names it. */
public final class MissingPeerException extends Exception {
    private static final long serialVersionUID = 1;

    /** Creates an exception. */
    public MissingPeerException(String reason) {
        super(reason);
    }
}
