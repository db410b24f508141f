package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * Where finished work requests are found. C: {@code struct ibv_cq}. Thread safe; polled best by one thread at a time.
 *
 * <p>A queue must be large enough for all that can be unfetched: when it overruns, completions are lost, the queue is
 * unusable, its queue pairs go into the error state and {@link AsyncEvent.Type#COMPLETION_QUEUE_ERROR} is reported.
 */
public interface CompletionQueue extends AutoCloseable {
    /** Returns the open device. */
    DeviceContext context();

    /** Completions that the queue holds; at least as many as asked for. */
    int capacity();

    /** Returns the application's object given at creation, or null. */
    @Nullable
    Object userContext();

    /** The channel for its events, or null. */
    @Nullable
    CompletionChannel channel();

    /**
     * The completion vector that it was made at, from 0. C: {@code comp_vector} of {@code ibv_create_cq}.
     *
     * @see DeviceContext#createCompletionQueue(int, Object, CompletionChannel, int)
     */
    int completionVector();

    /**
     * Takes finished work requests, without waiting; drives the device. C: {@code ibv_poll_cq}.
     *
     * @param completions filled from the front
     * @return how many were filled
     * @throws RdmaException {@code EIO} after an overrun
     */
    int poll(WorkCompletion[] completions);

    /**
     * A reader of this queue, for one thread: extended polling. C: {@code ibv_create_cq_ex}, where the fields to be
     * read are chosen before; here every field is always there.
     */
    default CompletionReader reader() {
        return new CompletionReader(this);
    }

    /**
     * Makes the queue larger or smaller; what is in it stays. C: {@code ibv_resize_cq}.
     *
     * @param entries completions that it must hold at least from now on, from 1
     * @throws RdmaException {@code EINVAL} if {@code entries} is out of range or less than the completions in the queue
     */
    void resize(int entries);

    /**
     * Asks for one event at the channel when the next completion arrives. Completions that are there already do not
     * count: poll after this call. C: {@code ibv_req_notify_cq}.
     *
     * @param solicitedOnly only completions that the peer asked to be solicited, and failures
     * @throws RdmaException {@code EINVAL} if the queue has no channel
     */
    void requestNotification(boolean solicitedOnly);

    /** Acknowledges events taken from the channel; closing waits for it. C: {@code ibv_ack_cq_events}. */
    void acknowledgeEvents(int count);

    /**
     * Closes the queue, once all its events are acknowledged, or the device is closed. C: {@code ibv_destroy_cq}.
     *
     * @throws RdmaException {@code EBUSY} while a queue pair uses it; {@code EINTR} if the thread is interrupted while
     *     it waits (its flag stays set): then the queue stays open
     */
    @Override
    void close();
}
