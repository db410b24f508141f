package io.rdma4j.verbs;

import io.rdma4j.verbs.wait.Waitable;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A channel through which completion queues notify waiting threads of new completions. C: {@code struct
 * ibv_comp_channel}. Thread safe.
 *
 * <p>The following order loses no completion: {@link CompletionQueue#requestNotification}, then
 * {@link CompletionQueue#poll} until empty, then {@link #await}.
 */
public interface CompletionChannel extends Waitable, AutoCloseable {
    /**
     * Waits for an event and takes it. A waiting platform thread drives the device. A virtual thread parks. C: {@code
     * ibv_get_cq_event}.
     *
     * @return the queue that reported the event, which must be acknowledged, or null if the channel was closed,
     *     {@link #wakeup} was called, or the thread was interrupted; its interrupt status stays set
     */
    @Nullable
    CompletionQueue await();

    /** Waits like {@link #await()}, but returns null after {@code timeout}. */
    @Nullable
    CompletionQueue await(Duration timeout);

    /** Takes an event without waiting, or returns null. */
    @Nullable
    CompletionQueue poll();

    /**
     * Wakes one waiting thread, or else the next thread that would wait. Its wait returns null. Any thread may call
     * this method. C has no counterpart: programs poll the channel's file descriptor together with one of their own.
     */
    void wakeup();

    /**
     * Closes the channel and ends all waits. C: {@code ibv_destroy_comp_channel}.
     *
     * @throws RdmaException {@code EBUSY} while a completion queue uses the channel
     */
    @Override
    void close();
}
