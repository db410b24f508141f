package io.rdma4j.verbs;

import io.rdma4j.verbs.wait.Waiter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Implements {@link CompletionQueue#await}. A waiting thread polls its queue after each signal of the channel. Any
 * thread may therefore take the event of a queue, and closing a queue ends the waits for it although its channel stays
 * open.
 */
final class QueueWait {
    /** The C call that waits. The exceptions of all steps name it, so that callers see the same exceptions. */
    private static final String OPERATION = "ibv_get_cq_event";

    private final CompletionQueue queue;
    private final CompletionChannel channel;
    private final WorkCompletion[] completions;

    private QueueWait(CompletionQueue queue, CompletionChannel channel, WorkCompletion[] completions) {
        this.queue = queue;
        this.channel = channel;
        this.completions = completions;
    }

    /**
     * Waits for completions and polls them.
     *
     * @param timeout maximum time to wait, or null to wait indefinitely
     * @return the number of completions; 0 only after the timeout
     */
    static int await(CompletionQueue queue, WorkCompletion[] completions, @Nullable Duration timeout) {
        if (completions.length == 0) {
            throw new IllegalArgumentException("an array without elements can hold no completion");
        }
        CompletionChannel channel = queue.channel();
        if (channel == null) {
            throw new RdmaException(
                    OPERATION,
                    Errno.EINVAL,
                    "the completion queue has no channel",
                    "Specify a channel when you create it, or poll it");
        }
        try {
            int count = queue.poll(completions);
            return count > 0 ? count : new QueueWait(queue, channel, completions).await(timeout);
        } catch (ClosedException closed) {
            throw new ClosedException(OPERATION, "the completion queue, its channel or its device is closed", "");
        }
    }

    private int await(@Nullable Duration timeout) {
        long deadlineNanos =
                timeout == null ? Long.MAX_VALUE : channel.waitDriver().deadlineNanos(timeout);
        Waiter waiter = new Waiter();
        channel.signal().add(waiter);
        try {
            while (true) {
                waiter.reset();
                takeEvents();
                queue.requestNotification(false);
                int count = queue.poll(completions); // completions before the request cause no event
                if (count > 0) {
                    return count;
                }
                if (!waiter.await(channel.waitDriver(), deadlineNanos)) {
                    requireNotInterrupted();
                    return queue.poll(completions);
                }
            }
        } finally {
            channel.signal().remove(waiter);
        }
    }

    /** Takes all events, including events of earlier requests and of other queues of the channel. */
    private void takeEvents() {
        while (channel.isReady()) {
            CompletionQueue reported = channel.poll();
            if (reported != null) {
                reported.acknowledgeEvents(1);
            }
        }
    }

    private static void requireNotInterrupted() {
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedRdmaException(OPERATION, "the wait for completions", "");
        }
    }
}
