package io.rdma4j.tools.demo;

/** Ends the demonstration. The message gives the user the reason. */
final class DemoFailure extends Exception {
    private static final long serialVersionUID = 1L;

    DemoFailure(String message) {
        super(message);
    }
}
