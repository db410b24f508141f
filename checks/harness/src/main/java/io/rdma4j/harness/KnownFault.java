package io.rdma4j.harness;

/** A fault of another program that a case cannot prevent: the case runs again, up to five times in a row. */
public final class KnownFault extends CaseFailure {
    private static final long serialVersionUID = 1L;

    /** Creates a failure. */
    public KnownFault(String reason) {
        super(reason);
    }
}
