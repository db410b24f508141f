package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.WorkCompletion;

/** A task that drives a device by polling a completion queue without removing completions. Thread safe. */
record ProgressPoller(CompletionQueue queue) implements Runnable {
    private static final WorkCompletion[] NONE = {};

    @Override
    public void run() {
        queue.poll(NONE);
    }
}
