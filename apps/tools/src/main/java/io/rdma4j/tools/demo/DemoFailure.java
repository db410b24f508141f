package io.rdma4j.tools.demo;

/** Ends the demonstration. The message is the reason for the user. */
final class DemoFailure extends Exception {
    private static final long serialVersionUID = 1L;

    DemoFailure(String message) {
        super(message);
    }
}
