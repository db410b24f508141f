package io.rdma4j.bench.worker;

/** What should be measured is not on this machine; the message says what, in a line. */
public final class MissingPeerException extends Exception {
    private static final long serialVersionUID = 1;

    /** Creates one. */
    public MissingPeerException(String reason) {
        super(reason);
    }
}
