package io.rdma4j.tools.rping;

/** Ends a run. The reason has been printed. */
class RpingFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;

    /** Creates a failure with the value that C's {@code main} would return. */
    RpingFailure(int status) {
        super("status " + status, null, false, false);
        this.status = status;
    }

    final int status() {
        return status;
    }
}
