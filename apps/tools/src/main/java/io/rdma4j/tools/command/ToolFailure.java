package io.rdma4j.tools.command;

/** Ends the run of a tool. The reason has been printed. */
public class ToolFailure extends Exception {
    private static final long serialVersionUID = 1L;

    private final int status;

    /** Creates a failure with the value that C's {@code main} would return. */
    public ToolFailure(int status) {
        super("exit status " + status, null, false, false);
        this.status = status;
    }

    /** Returns the exit status. */
    public final int status() {
        return status;
    }
}
