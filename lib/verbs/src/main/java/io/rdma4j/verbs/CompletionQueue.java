package io.rdma4j.verbs;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A queue of work completions. C: {@code struct ibv_cq}. Thread safe, but best polled by one thread at a time.
 *
 * <p>A queue must be large enough for all completions that have not been polled. If it overruns, completions are lost,
 * the queue becomes unusable, its queue pairs go into the error state, and
 * {@link AsyncEvent.Type#COMPLETION_QUEUE_ERROR} is reported.
 */
public interface CompletionQueue extends AutoCloseable {
    /** Returns the open device. */
    DeviceContext context();

    /** Returns the capacity in completions, at least the requested one. */
    int capacity();

    /** Returns the application's object that was passed at creation, or null. */
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
     * @return the number of filled holders
     * @throws RdmaException {@code EIO} after an overrun
     * @throws ClosedException if the queue is closed
     */
    int poll(WorkCompletion[] completions);

    /**
     * Polls for completions, and waits until the queue has some. It polls, requests a notification, polls again, waits
     * for an event of the {@linkplain #channel() channel}, and acknowledges it. A waiting platform thread drives the
     * device. A virtual thread parks. C: {@code rdma_get_send_comp}, {@code rdma_get_recv_comp}.
     *
     * <p>Thread safe: threads may wait for this queue and for other queues of its channel at the same time. A wait
     * takes the events of all queues of the channel. A thread that takes events from the channel directly, with
     * {@link CompletionChannel#await()} or {@link CompletionChannel#poll}, may therefore miss events while another
     * thread is in this call.
     *
     * @param completions holders, at least one, which are filled from the first
     * @return the number of filled holders, at least 1. The caller must check the status of each completion
     * @throws RdmaException {@code EINVAL} if the queue has no channel; {@code EIO} after an overrun; the driver's
     *     error after the removal of the device
     * @throws ClosedException if the queue, its channel or its device is closed before or during the call
     * @throws InterruptedRdmaException if the thread is interrupted and no completion is available. Its interrupt
     *     status stays set
     * @throws IllegalArgumentException if {@code completions} has no elements
     */
    default int await(WorkCompletion[] completions) {
        return QueueWait.await(this, completions, null);
    }

    /**
     * Polls for completions, and waits for them for at most {@code timeout}; see {@link #await(WorkCompletion[])}.
     *
     * @param completions holders, at least one, which are filled from the first
     * @param timeout maximum time to wait, by the clock of the device; 0 or less does not wait
     * @return the number of filled holders, or 0 after the timeout
     */
    default int await(WorkCompletion[] completions, Duration timeout) {
        return QueueWait.await(this, completions, timeout);
    }

    /**
     * Creates a reader of this queue for one thread, for extended polling. C: {@code ibv_create_cq_ex}, which also
     * selects the fields to read; in Java all fields are always available.
     */
    default CompletionReader reader() {
        return new CompletionReader(this);
    }

    /**
     * Returns whether {@link WorkCompletion#timestampNanos} is a time of the device's clock. That requires hardware
     * with such a clock, and {@link CompletionQueueInitAttributes#deviceClock}.
     */
    default boolean usesDeviceClock() {
        return false;
    }

    /**
     * Converts the timestamp of a completion of this queue to the system's clock. For a timestamp of the device's
     * clock, the result is exact to a few microseconds. C: {@code ibv_wc_read_completion_wallclock_ns}, or
     * {@code ibv_query_rt_values_ex}, which reads the device's clock.
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
     * @throws RdmaException {@code EINVAL} if {@code entries} is out of range or less than the number of completions in
     *     the queue
     * @throws ClosedException if the queue is closed
     */
    void resize(int entries);

    /**
     * Requests one event of the channel for the next completion. Completions that are already in the queue cause no
     * event, so poll after this call. C: {@code ibv_req_notify_cq}.
     *
     * @param solicitedOnly true for an event only after a solicited receive or a failure
     * @throws RdmaException {@code EINVAL} if the queue has no channel
     * @throws ClosedException if the queue is closed
     */
    void requestNotification(boolean solicitedOnly);

    /**
     * Acknowledges events that were taken from the channel. Closing the queue waits for the acknowledgement. C: {@code
     * ibv_ack_cq_events}.
     *
     * @param count the number of events
     * @throws RdmaException {@code EINVAL} if {@code count} is negative or exceeds the number of unacknowledged events
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
