package io.rdma4j.tools.pingpong;

/** Thrown to end a run after the reason has been printed. */
final class PingpongFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;

    PingpongFailure(int status) {
        super("exit status " + status, null, false, false);
        this.status = status;
    }

    /** Returns the exit status. */
    int status() {
        return status;
    }
}
