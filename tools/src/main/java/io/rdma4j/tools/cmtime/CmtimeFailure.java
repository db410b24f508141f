package io.rdma4j.tools.cmtime;

/** Ends a run; the reason has been printed. */
final class CmtimeFailure extends Exception {
    private static final long serialVersionUID = 1L;

    CmtimeFailure() {
        super("told already", null, false, false);
    }
}
