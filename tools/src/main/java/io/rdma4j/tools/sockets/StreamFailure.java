package io.rdma4j.tools.sockets;

/** Thrown to end a run after the reason has been printed. */
final class StreamFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;

    /** Creates a failure with an exit status. */
    StreamFailure(int status) {
        super("status " + status, null, false, false);
        this.status = status;
    }

    int status() {
        return status;
    }
}
