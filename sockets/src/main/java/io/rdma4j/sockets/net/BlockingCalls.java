package io.rdma4j.sockets.net;

import io.rdma4j.sockets.io.StreamEndpoint;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Waits as java.net specifies it. A platform thread cannot be interrupted in such a wait and finds its flag set after it; a
 * virtual thread can, and whoever called closes the socket then.
 */
final class BlockingCalls {
    /** Something that is tried until it yields something. */
    interface Attempt<T> {
        /** The result; null if there is none yet. */
        @Nullable
        T now() throws IOException;
    }

    private BlockingCalls() {}

    /** When a time-out that begins now ends; 0 is none. */
    static long deadlineNanos(int timeoutMillis) {
        return timeoutMillis == 0 ? Long.MAX_VALUE : System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMillis);
    }

    /**
     * Tries until there is a result.
     *
     * @param wanted what of {@link io.rdma4j.sockets.io.Readiness} the attempt waits for
     * @param timedOut says what took too long
     * @throws SocketException if the socket is closed meanwhile
     * @throws SocketTimeoutException if the time is over
     * @throws InterruptedIOException if the thread is virtual and was interrupted; its flag stays set
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
                if (endpoint.await(wanted, deadlineNanos) != 0) {
                    continue;
                }
                if (Thread.currentThread().isInterrupted()) {
                    if (Thread.currentThread().isVirtual()) {
                        throw new InterruptedIOException("Interrupted");
                    }
                    interrupted = Thread.interrupted();
                } else if (isOver(deadlineNanos)) {
                    throw new SocketTimeoutException(timedOut);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static void requireOpen(StreamEndpoint endpoint) throws SocketException {
        if (endpoint.state() == StreamEndpoint.State.CLOSED) {
            throw new SocketException("Socket closed");
        }
    }

    private static boolean isOver(long deadlineNanos) {
        return deadlineNanos != Long.MAX_VALUE && System.nanoTime() - deadlineNanos >= 0;
    }

    /** Takes a lock, within the time. Interrupts wait until it is taken. */
    static void lock(ReentrantLock lock, long deadlineNanos, String timedOut) throws SocketTimeoutException {
        if (deadlineNanos == Long.MAX_VALUE) {
            lock.lock();
            return;
        }
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    if (lock.tryLock(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS)) {
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
