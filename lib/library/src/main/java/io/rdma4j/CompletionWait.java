package io.rdma4j;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.WorkRequestException;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waiter;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Waits for completions of one queue of a connection or datagram socket, or for its end. One thread at a time polls and waits;
 * any thread may close it.
 */
final class CompletionWait {
    /** The time by which the event of the end may follow the completions that were flushed because of it. */
    private static final long END_NANOS = 100_000_000;

    private final CompletionQueue queue;
    private final CompletionChannel channel;
    private final WaitDriver driver;
    private final ChannelEvents events;
    private final String owner;
    private final Waiter waiter = new Waiter();
    private final BooleanSupplier isOver = this::isOver;
    private final BooleanSupplier isOverOrEnded = this::isOverOrEnded;
    private boolean isListening;
    private volatile boolean isClosed;

    /**
     * Creates an object for a queue; no thread waits yet.
     *
     * @param queue a completion queue with a channel
     * @param events the events of the connection or socket
     * @param owner the connection or socket as text, for messages
     */
    CompletionWait(CompletionQueue queue, ChannelEvents events, String owner) {
        this.queue = queue;
        this.events = events;
        this.owner = owner;
        channel = Objects.requireNonNull(queue.channel(), "the completion queue has no channel");
        driver = channel.waitDriver();
    }

    WaitDriver driver() {
        return driver;
    }

    ChannelEvents events() {
        return events;
    }

    void requireOpen(String operation) {
        if (isClosed) {
            throw new ClosedException(operation, owner + " is closed", "");
        }
    }

    /**
     * Takes a lock whose holder waits for completions.
     *
     * @throws RdmaTimeoutException after the deadline
     * @throws InterruptedRdmaException if the thread is interrupted
     */
    void lock(ReentrantLock lock, String operation, long deadlineNanos) {
        if (lock.tryLock()) {
            return;
        }
        try {
            if (deadlineNanos == Long.MAX_VALUE) {
                lock.lockInterruptibly();
            } else if (!lock.tryLock(deadlineNanos - driver.nanoTime(), TimeUnit.NANOSECONDS)) {
                throw new RdmaTimeoutException(operation, "another thread waits in this call on " + owner, "");
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedRdmaException(operation, "while another thread waits in this call on " + owner, "");
        }
    }

    /** Polls for completions without waiting; returns their number. */
    int poll(String operation, WorkCompletion[] completions) {
        try {
            return queue.poll(completions);
        } catch (ClosedException closedMeanwhile) {
            requireOpen(operation);
            throw closedMeanwhile; // the stack is closed
        }
    }

    /** Requests a notification. The caller polls again, and then waits. */
    void arm(String operation) {
        if (!isListening) {
            isListening = true;
            channel.signal().add(waiter);
            events.signal().add(waiter);
        }
        requireOpen(operation);
        queue.requestNotification(false);
    }

    /**
     * Waits for completions, the end of the connection, or another event.
     *
     * @return false after the deadline, or if the thread is interrupted
     */
    boolean await(long deadlineNanos) {
        return await(isOver, deadlineNanos);
    }

    /**
     * Waits like {@link #await(long)}, and only until the connection has ended: without posted work requests, no completion follows its
     * end.
     */
    boolean awaitOrEnd(long deadlineNanos) {
        return await(isOverOrEnded, deadlineNanos);
    }

    private boolean await(BooleanSupplier condition, long deadlineNanos) {
        events.handle();
        boolean isInTime = waiter.await(driver, condition, deadlineNanos);
        if (channel.isReady() && !isClosed) {
            CompletionQueue reported = channel.poll();
            if (reported != null) {
                reported.acknowledgeEvents(1);
            }
        }
        return isInTime;
    }

    private boolean isOver() {
        return channel.isReady() || events.isReady() || isClosed;
    }

    private boolean isOverOrEnded() {
        return isOver() || events.isEnded();
    }

    /** Returns the exception for a work request that has failed, or that follows one that has failed. */
    RdmaException failure(String operation, QueuePair queuePair, CompletionStatus status) {
        requireOpen(operation);
        if (status == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR && hasEnded()) {
            return events.ended(operation);
        }
        requireOpen(operation); // the program may have closed the connection during the wait for its end
        return WorkRequestException.of(
                operation, status, owner + " failed with " + status + ": " + explain(queuePair, status));
    }

    private static String explain(QueuePair queuePair, CompletionStatus status) {
        return switch (status) {
            case WORK_REQUEST_FLUSHED_ERROR ->
                "another operation has failed before, or the peer did not answer the keep-alive of an idle connection";
            case REMOTE_INVALID_REQUEST_ERROR ->
                queuePair.explain(status)
                        + ": a message is longer than the peer's places, or the address of an atomic operation is not a multiple of 8";
            default -> queuePair.explain(status);
        };
    }

    /** Returns whether the connection has ended, as flushed completions suggest: the event may be about to arrive. */
    private boolean hasEnded() {
        events.handle();
        if (!events.isEnded()) {
            BooleanSupplier isKnown = () -> events.isReady() || events.isEnded() || events.isClosing();
            var _ = events.signal().await(driver, isKnown, driver.nanoTime() + END_NANOS);
            events.handle();
        }
        return events.isEnded() || events.isClosing();
    }

    /** Ends the waits, and refuses new ones. */
    void close() {
        isClosed = true;
        waiter.onSignal();
        channel.signal().remove(waiter);
        events.signal().remove(waiter);
    }

    @Override
    public String toString() {
        return owner;
    }
}
