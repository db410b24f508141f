package io.rdma4j.tools.sockets;

/** The run is over, after its reason was told. */
final class StreamFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;

    /** Ends a run with an exit status. */
    StreamFailure(int status) {
        super("status " + status, null, false, false);
        this.status = status;
    }

    int status() {
        return status;
    }
}
