package io.rdma4j.harness;

/** The reason why a case has failed, as the table prints it. */
public class CaseFailure extends Exception {
    private static final long serialVersionUID = 1L;

    /** Creates a failure. */
    public CaseFailure(String reason) {
        super(reason);
    }
}
