package io.rdma4j.tools.messages;

/** Ends the run of an endpoint. The reason has been printed. */
final class EndpointFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;

    EndpointFailure(int status) {
        super("status " + status, null, false, false);
        this.status = status;
    }

    /** Returns the exit status, which is also the number in the C tool's last line. */
    int status() {
        return status;
    }
}
