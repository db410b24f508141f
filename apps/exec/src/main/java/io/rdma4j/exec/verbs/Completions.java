package io.rdma4j.exec.verbs;

import io.rdma4j.verbs.CompletionQueue;
import org.jspecify.annotations.Nullable;

/** A completion queue with its channel. C: {@code struct ibv_cq}. Thread safe. */
final class Completions implements AutoCloseable {
    private final OpenDevice device;
    private final CompletionQueue queue;
    private final @Nullable Channel channel;

    Completions(OpenDevice device, CompletionQueue queue, @Nullable Channel channel) {
        this.device = device;
        this.queue = queue;
        this.channel = channel;
    }

    CompletionQueue queue() {
        return queue;
    }

    /** Requests an event for the next completion. Does nothing without a channel: in C, that is not an error. */
    void requestNotification(boolean solicitedOnly) {
        if (channel != null) {
            queue.requestNotification(solicitedOnly);
            channel.readiness().expect();
        }
    }

    @Override
    public void close() {
        queue.close();
        if (channel != null) {
            channel.readiness().update();
        }
        device.asyncEvents().update();
    }
}
