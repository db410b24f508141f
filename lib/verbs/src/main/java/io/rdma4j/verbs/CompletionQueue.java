package io.rdma4j.verbs;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A queue of work completions. C: {@code struct ibv_cq}. Thread safe, but best polled by one thread at a time.
 *
 * <p>A queue must be large enough for all completions that have not been polled. When it overruns, completions are
 * lost, the queue is unusable, its queue pairs go into the error state and
 * {@link AsyncEvent.Type#COMPLETION_QUEUE_ERROR} is reported.
 */
public interface CompletionQueue extends AutoCloseable {
    /** Returns the open device. */
    DeviceContext context();

    /** Returns the capacity in completions, at least that requested. */
    int capacity();

    /** Returns the application's object given at creation, or null. */
    @Nullable
    Object userContext();

    /** Returns the channel for its events, or null. */
    @Nullable
    CompletionChannel channel();

    /**
     * Returns its completion vector, from 0. C: {@code comp_vector} of {@code ibv_create_cq}.
     *
     * @see DeviceContext#createCompletionQueue(int, Object, CompletionChannel, int)
     */
    int completionVector();

    /**
     * Polls for completions without waiting, and drives the device. C: {@code ibv_poll_cq}.
     *
     * @param completions holders, which are filled from the first
     * @return the number of holders filled
     * @throws RdmaException {@code EIO} after an overrun
     * @throws ClosedException if the queue is closed
     */
    int poll(WorkCompletion[] completions);

    /**
     * Polls for completions, and waits until there are some: polls, requests a notification, polls again, waits for an event of the
     * {@linkplain #channel() channel}, and acknowledges it. A waiting platform thread drives the device. A virtual thread parks. C: {@code
     * rdma_get_send_comp}, {@code rdma_get_recv_comp}.
     *
     * <p>Thread safe: threads may wait for this queue and for other queues of its channel at the same time. A wait takes the events of all
     * of them. A thread that takes events from the channel itself, with {@link CompletionChannel#await()} or {@link
     * CompletionChannel#poll}, may therefore miss some while another one is in this call.
     *
     * @param completions holders, at least one, which are filled from the first
     * @return the number of holders filled, at least 1. The caller checks the status of each
     * @throws RdmaException {@code EINVAL} if the queue has no channel; {@code EIO} after an overrun; the driver's error after the removal of the
     *     device
     * @throws ClosedException if the queue, its channel or its device is closed, before the call or during it
     * @throws InterruptedRdmaException if the thread is interrupted, unless completions are already there. Its interrupt status stays set
     * @throws IllegalArgumentException if {@code completions} has no elements
     */
    default int await(WorkCompletion[] completions) {
        return QueueWait.await(this, completions, null);
    }

    /**
     * Polls for completions, and waits until there are some, like {@link #await(WorkCompletion[])}, for at most {@code timeout}.
     *
     * @param completions holders, at least one, which are filled from the first
     * @param timeout the longest duration of the wait, by the clock of the device; without a wait if it is 0 or less
     * @return the number of holders filled, or 0 after the timeout
     */
    default int await(WorkCompletion[] completions, Duration timeout) {
        return QueueWait.await(this, completions, timeout);
    }

    /**
     * Creates a reader of this queue for one thread: extended polling. C: {@code ibv_create_cq_ex}, which also selects
     * the fields to read. Here all fields are always available.
     */
    default CompletionReader reader() {
        return new CompletionReader(this);
    }

    /**
     * Returns whether {@link WorkCompletion#timestampNanos} is a time of the device's own clock. Only hardware has one, and only
     * if it was asked for by {@link CompletionQueueInitAttributes#deviceClock}.
     */
    default boolean usesDeviceClock() {
        return false;
    }

    /**
     * Converts the timestamp of a completion of this queue to the system's clock. With the device's own clock it is exact to some
     * microseconds. C: {@code ibv_wc_read_completion_wallclock_ns}, or {@code ibv_query_rt_values_ex}, which reads the device's
     * clock.
     *
     * @param timestampNanos {@link WorkCompletion#timestampNanos}
     * @return nanoseconds since 1970
     * @throws RdmaException if the device's clock cannot be read
     */
    default long wallClockNanos(long timestampNanos) {
        return context().wallClockNanos(timestampNanos);
    }

    /**
     * Changes the capacity. The completions in the queue are kept. C: {@code ibv_resize_cq}.
     *
     * @param entries new minimum capacity, from 1
     * @throws RdmaException {@code EINVAL} if {@code entries} is out of range or less than the completions in the queue
     * @throws ClosedException if the queue is closed
     */
    void resize(int entries);

    /**
     * Requests one event at the channel for the next completion. Completions that are already in the queue cause no
     * event, so poll after this call. C: {@code ibv_req_notify_cq}.
     *
     * @param solicitedOnly true to be notified only of solicited receives and failures
     * @throws RdmaException {@code EINVAL} if the queue has no channel
     * @throws ClosedException if the queue is closed
     */
    void requestNotification(boolean solicitedOnly);

    /**
     * Acknowledges events taken from the channel. Closing waits for it. C: {@code ibv_ack_cq_events}.
     *
     * @param count the number of events
     * @throws RdmaException {@code EINVAL} for a negative number, or for more events than were taken and not acknowledged
     * @throws ClosedException if the queue is closed
     */
    void acknowledgeEvents(int count);

    /**
     * Closes the queue. Waits until all its events are acknowledged or the device is closed. C: {@code ibv_destroy_cq}.
     *
     * @throws RdmaException {@code EBUSY} while a queue pair uses it; {@code EINTR} if the thread is interrupted while
     *     it waits; then its interrupt status stays set and the queue stays open
     */
    @Override
    void close();
}
