package io.rdma4j;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.PartialPostException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RdmaTimeoutException;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Posts the send work requests of a connection and waits for them. Thread safe.
 *
 * <p>Work requests are numbered from 1. They complete in order, so each is complete when {@link #completed} has reached its number, and
 * any thread may poll for all. One thread at a time polls; the others wait for its signal.
 */
final class SendQueue {
    private static final String BATCH = "batch";

    /** The maximum time until a work request is flushed after the queue pair was moved to the error state. */
    private static final long FLUSH_NANOS = 1_000_000_000;

    private final QueuePair queuePair;
    private final CompletionWait wait;
    private final int capacity;
    private final WorkCompletion[] polled = WorkCompletion.array(8);

    /** Guards {@link #request}, {@link #part} and {@link #posted}. */
    private final ReentrantLock postLock = new ReentrantLock();

    private final SendWorkRequest request = new SendWorkRequest();

    /** Work requests of a batch that are posted together: few enough that others can be posted while they are executed. */
    private final SendWorkRequest[] part;

    private volatile long posted;

    /** The number of the newest work request known to be complete. Written by the thread that polls. */
    private volatile long completed;

    /** The number of the first work request that failed. Written by the thread that polls, after its status. */
    private volatile long firstFailed = Long.MAX_VALUE;

    private CompletionStatus failure = CompletionStatus.SUCCESS;

    private final AtomicBoolean isPolling = new AtomicBoolean();
    private final AtomicInteger followers = new AtomicInteger();
    private final Signal progress = new Signal();

    /** The timeout in nanoseconds of an operation that is called without one, or {@link Long#MAX_VALUE}. */
    private final long operationNanos;

    SendQueue(QueuePair queuePair, CompletionWait wait, int capacity, Duration operationTimeout) {
        operationNanos =
                operationTimeout.compareTo(WaitDriver.CENTURY) >= 0 ? Long.MAX_VALUE : operationTimeout.toNanos();
        this.queuePair = queuePair;
        this.wait = wait;
        this.capacity = capacity;
        part = new SendWorkRequest[(capacity + 1) / 2];
    }

    // ---- posting

    /**
     * Waits for space, posts an operation and waits for it.
     *
     * @param local the local memory, null for an operation without it
     * @param remote the peer's memory, null for a message
     * @param first see {@link SendOperation#fill}
     * @param second see {@link SendOperation#fill}
     */
    void execute(
            SendOperation operation,
            @Nullable Buffer local,
            @Nullable RemoteMemory remote,
            long first,
            long second,
            long deadlineNanos) {
        long number = 0;
        while (number == 0) {
            number = postIfRoom(operation, local, remote, first, second);
            if (number < 0) {
                await(operation.call(), -number, deadlineNanos);
                number = 0;
            }
        }
        await(operation.call(), number, deadlineNanos);
    }

    /** Posts an operation and returns its number; without space, the negative number of the operation that must complete first. */
    private long postIfRoom(
            SendOperation operation, @Nullable Buffer local, @Nullable RemoteMemory remote, long first, long second) {
        postLock.lock();
        try {
            requireUsable(operation.call());
            long number = posted + 1;
            if (number - completed > capacity) {
                return capacity - number;
            }
            request.reset(number);
            operation.fill(request, local, remote, first, second);
            queuePair.postSend(request.signaled());
            posted = number;
            return number;
        } finally {
            postLock.unlock();
        }
    }

    /**
     * Posts several work requests that are filled, and waits for space meanwhile.
     *
     * @param requests the work requests, of which the first {@code count} are posted
     * @return the number of the last one
     */
    long postAll(SendWorkRequest[] requests, int count, long deadlineNanos) {
        int next = 0;
        while (next < count) {
            int some = postSome(requests, next, Math.min(count - next, part.length));
            if (some == 0) {
                await(BATCH, posted + 1 - capacity, deadlineNanos);
            }
            next += some;
        }
        return posted;
    }

    /** Posts as many work requests as there is space for; returns their number. The last one is signaled. */
    private int postSome(SendWorkRequest[] requests, int from, int maximum) {
        postLock.lock();
        try {
            requireUsable(BATCH);
            long before = posted;
            int some = (int) Math.min(maximum, capacity - (before - completed));
            if (some > 0) {
                for (int i = 0; i < some; i++) {
                    part[i] = requests[from + i].id(before + 1 + i);
                }
                part[some - 1].signaled();
                posted = before + postPart(some, before);
            }
            return some;
        } finally {
            postLock.unlock();
        }
    }

    private int postPart(int count, long before) {
        try {
            queuePair.postSends(part, count);
            return count;
        } catch (PartialPostException failed) {
            posted = before + failed.posted();
            requireUsable(BATCH); // another thread may have closed the connection meanwhile
            if (failed.posted() > 0) {
                // Only the last work request of a part is signaled, so nothing would report that these are complete.
                wait.events().end("a part of a batch was refused on " + wait);
            }
            throw failed;
        }
    }

    /** Returns whether a work request has failed, after which all others fail. */
    boolean hasFailed() {
        return firstFailed != Long.MAX_VALUE;
    }

    private void requireUsable(String operation) {
        wait.requireOpen(operation);
        if (hasFailed()) {
            throw failure(operation);
        }
        if (wait.events().isEnded()) {
            throw wait.events().ended(operation);
        }
    }

    // ---- waiting

    /** Returns the deadline of a wait that starts now, by the clock of the device. */
    long deadlineNanos(Duration timeout) {
        return wait.driver().deadlineNanos(timeout);
    }

    /** Returns the deadline of an operation that starts now and is called without a timeout. */
    long deadlineNanos() {
        return operationNanos == Long.MAX_VALUE ? Long.MAX_VALUE : wait.driver().nanoTime() + operationNanos;
    }

    /** Waits for the work requests of a batch. */
    void awaitBatch(long last, long deadlineNanos) {
        await(BATCH, last, deadlineNanos);
    }

    /** Waits for the work requests of a batch without ending the connection; returns false after the deadline. */
    boolean tryAwait(long last, long deadlineNanos) {
        if (!awaitUntil(BATCH, last, deadlineNanos)) {
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedRdmaException(BATCH, wait.toString(), "");
            }
            return false;
        }
        requireSuccess(BATCH, last);
        return true;
    }

    /** Returns whether the work requests of a batch are complete, without waiting; throws their failure. */
    boolean isComplete(long last) {
        if (completed < last && isPolling.compareAndSet(false, true)) {
            try {
                boolean isProgressing = true;
                while (completed < last && isProgressing) {
                    isProgressing = poll();
                }
            } finally {
                isPolling.set(false);
                signalProgress();
            }
        }
        if (completed < last) {
            return false;
        }
        requireSuccess(BATCH, last);
        return true;
    }

    /** Waits for a work request, and throws its failure. Ends the connection after the deadline, and if the thread is interrupted. */
    void await(String operation, long number, long deadlineNanos) {
        if (!awaitUntil(operation, number, deadlineNanos)) {
            boolean isInterrupted = abandon(operation);
            var _ = awaitUntil(operation, number, wait.driver().nanoTime() + FLUSH_NANOS);
            throw abandoned(operation, isInterrupted);
        }
        requireSuccess(operation, number);
    }

    private void requireSuccess(String operation, long number) {
        if (number >= firstFailed) {
            throw failure(operation);
        }
    }

    /** Waits for a work request, by polling or while another thread polls. Returns false after the deadline, or if the thread is interrupted. */
    private boolean awaitUntil(String operation, long number, long deadlineNanos) {
        boolean isInTime = true;
        while (completed < number && isInTime) {
            if (isPolling.compareAndSet(false, true)) {
                try {
                    isInTime = pollUntil(operation, number, deadlineNanos);
                } finally {
                    isPolling.set(false);
                    signalProgress();
                }
            } else {
                isInTime = follow(number, deadlineNanos);
            }
        }
        return completed >= number;
    }

    /** Waits for a work request that completes without an answer from a peer, even if the thread is interrupted. */
    void awaitUninterruptibly(String operation, long number) {
        boolean wasInterrupted = Thread.interrupted();
        try {
            while (completed < number) {
                if (poll()) {
                    continue;
                }
                wait.arm(operation);
                if (!poll() && !wait.await(Long.MAX_VALUE)) {
                    wasInterrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
        requireSuccess(operation, number);
    }

    /** Waits until everything posted so far is complete, or the deadline has passed. Does not throw. */
    void drain(long deadlineNanos) {
        try {
            await("close", posted, deadlineNanos);
        } catch (RdmaException ended) {
            return; // its caller gets the exception, or does not wait for it
        }
    }

    private boolean pollUntil(String operation, long number, long deadlineNanos) {
        while (completed < number) {
            if (poll()) {
                continue;
            }
            wait.arm(operation);
            if (!poll() && !wait.await(deadlineNanos) && !poll()) {
                return false;
            }
        }
        return true;
    }

    /** Polls once, and wakes the threads that wait for completed work requests. Returns whether any have completed. */
    private boolean poll() {
        int count = wait.poll("poll", polled);
        for (int i = 0; i < count; i++) {
            WorkCompletion completion = polled[i];
            if (!completion.isSuccess() && firstFailed == Long.MAX_VALUE) {
                failure = completion.status();
                firstFailed = completion.id();
            }
        }
        if (count > 0) {
            completed = polled[count - 1].id();
            signalProgress();
        }
        return count > 0;
    }

    private void signalProgress() {
        if (followers.get() > 0) {
            progress.raise();
        }
    }

    /** Waits while another thread polls. */
    private boolean follow(long number, long deadlineNanos) {
        BooleanSupplier isOver = () -> completed >= number || !isPolling.get();
        followers.incrementAndGet();
        try {
            return progress.await(wait.driver(), isOver, deadlineNanos);
        } finally {
            followers.decrementAndGet();
        }
    }

    /**
     * Ends the connection because the wait for a work request is abandoned: its memory must not be in use when the call returns.
     * Returns whether the reason is an interrupt; {@link #abandoned} restores its status.
     */
    private boolean abandon(String operation) {
        boolean isInterrupted = Thread.interrupted();
        wait.events().end(operation + (isInterrupted ? " was interrupted" : " took too long") + " on " + wait);
        return isInterrupted;
    }

    private RdmaException abandoned(String operation, boolean isInterrupted) {
        if (isInterrupted) {
            Thread.currentThread().interrupt();
            return new InterruptedRdmaException(operation, "the connection was ended: " + wait, "");
        }
        return new RdmaTimeoutException(
                operation,
                "it took longer than its timeout, so the connection was ended: " + wait,
                SendOperation.needsPlace(operation)
                        ? "If the peer's program runs, it has no place for the message: it needs messages(count, bytes), and closes messages to"
                                + " reuse their places"
                        : "");
    }

    /** Returns the exception for an operation that has failed, or that follows one that has failed. */
    private RdmaException failure(String operation) {
        return wait.failure(operation, queuePair, failure);
    }
}
