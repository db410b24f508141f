package io.rdma4j.tools.messages;

/** Ends the run of an endpoint; the reason has been printed. */
final class EndpointFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;

    EndpointFailure(int status) {
        super("status " + status, null, false, false);
        this.status = status;
    }

    /** What the C tool's last line would tell, and its exit status. */
    int status() {
        return status;
    }
}
