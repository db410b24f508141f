package io.rdma4j.transport;

/** Where a queue pair's completions go: a completion queue, seen from below. */
@FunctionalInterface
public interface CompletionSink {
    /**
     * Takes a completion, or sets {@link Completion#isLost}.
     *
     * @param completion valid during the call only
     */
    void onCompletion(Completion completion);
}
