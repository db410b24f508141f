package io.rdma4j.tools.cmtime;

/** Ends a run whose failure has been reported. */
final class CmtimeFailure extends Exception {
    private static final long serialVersionUID = 1L;

    CmtimeFailure() {
        super("already reported", null, false, false);
    }
}
