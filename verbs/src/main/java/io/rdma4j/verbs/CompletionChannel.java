package io.rdma4j.verbs;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Where completion queues report that something has arrived, for threads that wait. C: {@code struct
 * ibv_comp_channel}. Thread safe.
 *
 * <p>The order that loses nothing: {@link CompletionQueue#requestNotification}, then {@link CompletionQueue#poll} until
 * empty, then {@link #await}.
 */
public interface CompletionChannel extends AutoCloseable {
    /**
     * Waits for an event and takes it. C: {@code ibv_get_cq_event}. The waiting thread drives the device meanwhile; a
     * virtual thread parks.
     *
     * @return the queue that has something, whose event must be acknowledged; or null if the channel was closed, {@link
     *     #wakeup} was called, or the thread interrupted (its flag stays set)
     */
    @Nullable
    CompletionQueue await();

    /** Like {@link #await()}, but waits no longer than {@code timeout}; null also when the time is over. */
    @Nullable
    CompletionQueue await(Duration timeout);

    /** Takes an event without waiting, or null. */
    @Nullable
    CompletionQueue poll();

    /**
     * Ends a wait: one thread that waits, or the next that would, gets null. Any thread may call it. C has no call for
     * this; programs poll the channel's descriptor together with one of their own.
     */
    void wakeup();

    /**
     * Closes the channel and ends all waits. C: {@code ibv_destroy_comp_channel}.
     *
     * @throws RdmaException {@code EBUSY} while a completion queue reports here
     */
    @Override
    void close();
}
