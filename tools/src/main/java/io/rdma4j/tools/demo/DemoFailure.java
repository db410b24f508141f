package io.rdma4j.tools.demo;

/** Ends the demonstration; the message says why, for people. */
final class DemoFailure extends Exception {
    private static final long serialVersionUID = 1L;

    DemoFailure(String message) {
        super(message);
    }
}
