package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.WorkCompletion;

/** Keeps a device going by polling a queue whose completions stay in it. Thread safe. */
record Drive(CompletionQueue queue) implements Runnable {
    private static final WorkCompletion[] NONE = {};

    @Override
    public void run() {
        queue.poll(NONE);
    }
}
