package io.rdma4j.transport;

/** Receives the completions of queue pairs: the provider side of a completion queue. */
@FunctionalInterface
public interface CompletionSink {
    /**
     * Stores a completion, or sets {@link Completion#isLost} if it cannot.
     *
     * @param completion valid during the call only
     */
    void onCompletion(Completion completion);
}
