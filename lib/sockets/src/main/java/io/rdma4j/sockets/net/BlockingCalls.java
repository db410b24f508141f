package io.rdma4j.sockets.net;

import io.rdma4j.sockets.io.SocketEndpoint;
import io.rdma4j.sockets.io.StreamEndpoint;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.Waiter;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Blocking waits as specified by java.net. An interrupt does not end the wait of a platform thread; its interrupt
 * status is set again after the wait. It ends the wait of a virtual thread, and the caller then closes the socket.
 */
public final class BlockingCalls {
    /** An operation that is repeated until it has a result. */
    interface Attempt<T> {
        /** Returns the result, or null if there is none yet. */
        @Nullable
        T now() throws IOException;
    }

    /** The maximum time until a process sends its first request, while Java loads and compiles the code. */
    private static final int MAX_PREPARATION_MILLIS = 5_000;

    private BlockingCalls() {}

    /** Returns the deadline, by an endpoint's clock, of a timeout that starts now; 0 means no timeout. */
    public static long deadlineNanos(SocketEndpoint endpoint, int timeoutMillis) {
        return timeoutMillis == 0 ? Long.MAX_VALUE : endpoint.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    }

    /**
     * Repeats an attempt until it has a result.
     *
     * @param wanted the set of {@link io.rdma4j.sockets.io.Readiness} to wait for between attempts
     * @param timedOut the message of the exception on timeout
     * @throws SocketException if the socket is closed during the wait
     * @throws SocketTimeoutException on timeout
     * @throws InterruptedIOException if the thread is virtual and was interrupted; its interrupt status stays set
     */
    static <T> T await(StreamEndpoint endpoint, int wanted, long deadlineNanos, String timedOut, Attempt<T> attempt)
            throws IOException {
        boolean interrupted = false;
        try {
            while (true) {
                requireOpen(endpoint);
                T result = attempt.now();
                if (result != null) {
                    return result;
                }
                if (endpoint.await(wanted, deadlineNanos) == 0) {
                    interrupted |= hasInterrupted(endpoint, deadlineNanos, timedOut);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Waits until the request of an attempt to connect is sent, or the attempt has failed. The program's timeout does
     * not include the earlier work of this process. This method waits at most {@value #MAX_PREPARATION_MILLIS} ms;
     * after that, the attempt continues.
     */
    public static void awaitRequest(StreamEndpoint endpoint) throws InterruptedIOException {
        try {
            await(
                    endpoint,
                    new Signal(),
                    deadlineNanos(endpoint, MAX_PREPARATION_MILLIS),
                    "",
                    () -> endpoint.isRequested() || endpoint.finishConnect() ? endpoint : null);
        } catch (SocketTimeoutException late) {
            // The timeout of the caller starts now.
        } catch (InterruptedIOException interrupted) {
            throw interrupted;
        } catch (IOException failed) {
            // The caller reports the reason.
        }
    }

    /**
     * Repeats an attempt until it has a result, like the other method. Between attempts, it waits for a change of the
     * endpoint's readiness or for another signal.
     */
    static <T> T await(StreamEndpoint endpoint, Signal other, long deadlineNanos, String timedOut, Attempt<T> attempt)
            throws IOException {
        boolean interrupted = false;
        Waiter waiter = new Waiter(endpoint.yields());
        endpoint.signal().add(waiter);
        other.add(waiter);
        try {
            while (true) {
                waiter.reset();
                requireOpen(endpoint);
                T result = attempt.now();
                if (result != null) {
                    return result;
                }
                if (endpoint.readinessToWait() == 0 && !endpoint.await(waiter, deadlineNanos)) {
                    interrupted |= hasInterrupted(endpoint, deadlineNanos, timedOut);
                }
            }
        } finally {
            endpoint.signal().remove(waiter);
            other.remove(waiter);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Handles the end of a wait without a result. Returns true if the thread was interrupted and waits again. */
    private static boolean hasInterrupted(SocketEndpoint endpoint, long deadlineNanos, String timedOut)
            throws IOException {
        if (Thread.currentThread().isInterrupted()) {
            if (Thread.currentThread().isVirtual()) {
                throw new InterruptedIOException("Interrupted");
            }
            return Thread.interrupted();
        }
        if (endpoint.isOver(deadlineNanos)) {
            throw new SocketTimeoutException(timedOut);
        }
        return false;
    }

    private static void requireOpen(StreamEndpoint endpoint) throws SocketException {
        if (endpoint.state() == StreamEndpoint.State.CLOSED) {
            throw new SocketException("Socket closed");
        }
    }

    /**
     * Acquires a lock before the deadline. The interrupt status is restored afterwards.
     *
     * @param deadlineNanos a time of the endpoint's clock
     */
    static void lock(ReentrantLock lock, SocketEndpoint endpoint, long deadlineNanos, String timedOut)
            throws SocketTimeoutException {
        if (deadlineNanos == Long.MAX_VALUE) {
            lock.lock();
            return;
        }
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    if (lock.tryLock(deadlineNanos - endpoint.nanoTime(), TimeUnit.NANOSECONDS)) {
                        return;
                    }
                    throw new SocketTimeoutException(timedOut);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
