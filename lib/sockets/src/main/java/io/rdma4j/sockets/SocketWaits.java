package io.rdma4j.sockets;

import io.rdma4j.sockets.io.Readiness;
import io.rdma4j.sockets.io.SocketEndpoint;
import io.rdma4j.sockets.io.SystemTime;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waitable;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Waits for the calls of rsocket(7), with or without a timeout. An interrupt ends a wait. */
final class SocketWaits {
    private SocketWaits() {}

    /** Waits indefinitely until an endpoint may be ready. */
    static void await(SocketEndpoint endpoint, int wanted) throws InterruptedIOException {
        if (endpoint.await(wanted, Long.MAX_VALUE) == 0
                && Thread.currentThread().isInterrupted()) {
            throw interrupted();
        }
    }

    /**
     * Waits until an endpoint is ready.
     *
     * @param events a set of {@link PollEvents}
     * @param timeout the maximum time to wait; zero to poll without blocking, null to wait indefinitely
     * @return the requested events that are ready, {@link PollEvents#ERROR} and {@link PollEvents#HANG_UP}; 0 on
     *     timeout
     */
    static int poll(SocketEndpoint endpoint, int events, @Nullable Duration timeout) throws InterruptedIOException {
        int wanted = wanted(events);
        int ready = endpoint.readiness() & (wanted | Readiness.ERROR | Readiness.HANG_UP);
        if (ready == 0 && (timeout == null || timeout.isPositive())) {
            ready = endpoint.await(wanted, deadline(endpoint, timeout));
            if (ready == 0 && Thread.currentThread().isInterrupted()) {
                throw interrupted();
            }
        }
        return ((ready & Readiness.IN) != 0 ? PollEvents.IN : 0)
                | ((ready & Readiness.OUT) != 0 ? PollEvents.OUT : 0)
                | ((ready & Readiness.ERROR) != 0 ? PollEvents.ERROR : 0)
                | ((ready & Readiness.HANG_UP) != 0 ? PollEvents.HANG_UP : 0);
    }

    private static int wanted(int events) {
        return ((events & PollEvents.IN) != 0 ? Readiness.IN : 0)
                | ((events & PollEvents.OUT) != 0 ? Readiness.OUT : 0);
    }

    /** Returns the readiness of an endpoint for {@link PollEvents}, with the name of its socket. */
    static Waitable readiness(SocketEndpoint endpoint, int events, String name) {
        int ends = wanted(events) | Readiness.ERROR | Readiness.HANG_UP;
        return new Waitable() {
            @Override
            public boolean isReady() {
                return (endpoint.readinessToWait() & ends) != 0;
            }

            @Override
            public Signal signal() {
                return endpoint.signal();
            }

            @Override
            public WaitDriver waitDriver() {
                WaitDriver driver = endpoint.waitDriver();
                return driver == null ? SystemTime.PARKING : driver;
            }

            @Override
            public boolean yields() {
                return endpoint.yields();
            }

            @Override
            public String toString() {
                return "readiness of " + name;
            }
        };
    }

    private static long deadline(SocketEndpoint endpoint, @Nullable Duration timeout) {
        long nanos = nanos(timeout);
        return nanos == Long.MAX_VALUE ? Long.MAX_VALUE : endpoint.nanoTime() + nanos;
    }

    /** Returns a timeout in nanoseconds, or {@link Long#MAX_VALUE} for no timeout. */
    static long nanos(@Nullable Duration timeout) {
        return timeout == null || timeout.toSeconds() > Integer.MAX_VALUE ? Long.MAX_VALUE : timeout.toNanos();
    }

    /** Acquires the lock of a direction. Returns false if the lock is held and the call must not wait. */
    static boolean enter(ReentrantLock lock, boolean wait) throws InterruptedIOException {
        if (!wait) {
            return lock.tryLock();
        }
        try {
            lock.lockInterruptibly();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw interrupted();
        }
    }

    private static InterruptedIOException interrupted() {
        return new InterruptedIOException("Interrupted system call");
    }
}
