package io.rdma4j.verbs;

import io.rdma4j.verbs.wait.Waitable;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A channel through which completion queues notify waiting threads of new completions. C: {@code struct
 * ibv_comp_channel}. Thread safe.
 *
 * <p>To miss no completion, call {@link CompletionQueue#requestNotification}, then {@link CompletionQueue#poll} until
 * the queue is empty, then {@link #await}.
 */
public interface CompletionChannel extends Waitable, AutoCloseable {
    /**
     * Waits for an event and takes it. A waiting platform thread drives the device. A virtual thread parks. C: {@code
     * ibv_get_cq_event}.
     *
     * @return the queue that reported the event, which must be acknowledged
     * @throws ClosedException if the channel or its device is closed
     * @throws RdmaException {@code EINTR} if the thread is interrupted; its interrupt status stays set
     */
    CompletionQueue await();

    /**
     * Waits for an event and takes it, like {@link #await()}, for at most {@code timeout}.
     *
     * @return the queue, or null after the timeout
     */
    @Nullable
    CompletionQueue await(Duration timeout);

    /**
     * Takes an event without waiting. C: {@code ibv_get_cq_event} with {@code O_NONBLOCK}.
     *
     * @return the queue, or null if there is no event
     * @throws ClosedException if the channel or its device is closed
     */
    @Nullable
    CompletionQueue poll();

    /**
     * Closes the channel, which ends all waits. C: {@code ibv_destroy_comp_channel}.
     *
     * @throws RdmaException {@code EBUSY} while a completion queue uses the channel
     */
    @Override
    void close();
}
