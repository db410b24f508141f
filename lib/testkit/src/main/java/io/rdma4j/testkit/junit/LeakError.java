package io.rdma4j.testkit.junit;

/** A test passed, but left objects of the stacks open or threads running; the message has the place where each was made. */
public final class LeakError extends AssertionError {
    private static final long serialVersionUID = 1;

    LeakError(String message) {
        super(message);
    }
}
