package io.rdma4j.testkit.junit;

/**
 * A test passed, but left objects of the stacks open or threads running; the message contains the place where each was
 * created.
 */
public final class LeakError extends AssertionError {
    private static final long serialVersionUID = 1;

    LeakError(String message) {
        super(message);
    }
}
