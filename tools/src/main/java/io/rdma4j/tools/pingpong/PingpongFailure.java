package io.rdma4j.tools.pingpong;

/** Ends a run; the reason has been printed. */
final class PingpongFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;

    PingpongFailure(int status) {
        super("exit status " + status, null, false, false);
        this.status = status;
    }

    /** Exit status. */
    int status() {
        return status;
    }
}
