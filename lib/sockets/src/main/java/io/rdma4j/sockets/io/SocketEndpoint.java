package io.rdma4j.sockets.io;

import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.wait.Signal;
import io.rdma4j.verbs.wait.WaitDriver;
import io.rdma4j.verbs.wait.Waiter;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;

/**
 * The common base of stream and datagram endpoints: a lock, the readiness for which threads and selectors wait, and the
 * translation of failures. Thread safe.
 */
public abstract sealed class SocketEndpoint permits StreamEndpoint, DatagramEndpoint {
    /** The way in which a readiness check obtains its result. */
    enum Check {
        /** After polling for completions. */
        POLL,
        /** Like {@link #POLL}; in addition, the signal is raised at later changes. */
        ARM
    }

    /**
     * Guards the state. It is a monitor, which the virtual machine releases in every case. The call that releases
     * another kind of lock may overflow the stack.
     */
    final Object lock = new Object();

    final Signal changed = new Signal();

    SocketEndpoint() {}

    /** Returns the readiness: a set of {@link Readiness}. Polls for completions. */
    public final int readiness() {
        return check(Check.POLL);
    }

    /** Returns the readiness like {@link #readiness}; the signal is raised at the next change. */
    public final int readinessToWait() {
        return check(Check.ARM);
    }

    abstract int check(Check check);

    /**
     * Returns the signal that is raised whenever the readiness may have changed. Its listeners may be called by the
     * thread that drives the device, so they must not block and must not call the endpoint.
     */
    public final Signal signal() {
        return changed;
    }

    /**
     * Returns the driver that makes progress while a thread waits for the endpoint, or null while it uses no device.
     * The driver changes when the endpoint is connected.
     */
    public abstract @Nullable WaitDriver waitDriver();

    /** Returns the driver of the stack that the endpoint uses or will use, which has the clock of its deadlines. */
    abstract WaitDriver stackDriver();

    /**
     * Returns the time in nanoseconds of the clock that deadlines use. It is the stack's clock, which may be virtual.
     * Before the first endpoint of a service uses a device, it is the system's clock.
     */
    public final long nanoTime() {
        return stackDriver().nanoTime();
    }

    /** Returns whether a deadline has passed; {@link Long#MAX_VALUE} never passes. */
    public final boolean isOver(long deadlineNanos) {
        return deadlineNanos != Long.MAX_VALUE && nanoTime() - deadlineNanos >= 0;
    }

    /**
     * Returns whether a thread that waits for the endpoint leaves the device to other threads while they wait or poll;
     * see {@link Waiter#Waiter(boolean)}. This is the case while the endpoint listens for connections.
     */
    public boolean yields() {
        return false;
    }

    /**
     * Waits until the endpoint is ready.
     *
     * @param wanted a set of {@link Readiness}; hang-up and errors always end the wait
     * @param deadlineNanos a time of {@link #nanoTime}; {@link Long#MAX_VALUE} to wait indefinitely
     * @return the readiness; 0 on timeout, or if the thread is interrupted (its interrupt status stays set)
     */
    public final int await(int wanted, long deadlineNanos) {
        int ends = wanted | Readiness.HANG_UP | Readiness.ERROR;
        int ready = readiness() & ends;
        if (ready != 0) {
            return ready;
        }
        Waiter waiter = new Waiter(yields());
        changed.add(waiter);
        try {
            do {
                waiter.reset();
                ready = readinessToWait() & ends;
            } while (ready == 0 && await(waiter, deadlineNanos));
            return ready == 0 ? readiness() & ends : ready;
        } finally {
            changed.remove(waiter);
        }
    }

    /**
     * Waits until a waiter of the endpoint's signal is signaled.
     *
     * @param deadlineNanos a time of {@link #nanoTime}; {@link Long#MAX_VALUE} to wait indefinitely
     * @return false on timeout, or if the thread is interrupted (its interrupt status stays set)
     */
    public final boolean await(Waiter waiter, long deadlineNanos) {
        WaitDriver driver = waitDriver();
        return waiter.await(driver == null ? stackDriver() : driver, deadlineNanos);
    }

    /** Returns whether the endpoint is closed. */
    public abstract boolean isClosed();

    /** Closes the endpoint. Waiting threads return. Closing a closed endpoint has no effect. */
    public abstract void close();

    /**
     * Fails the endpoint after an error of the virtual machine, which may have left the protocol in any state. Called
     * with the lock held, perhaps without memory or stack.
     */
    abstract void onError(String why);

    /** Returns the text for an error. It is a constant, since there may be no memory for another text. */
    static String reason(Error failed) {
        return switch (failed) {
            case StackOverflowError _ -> "a call of this process ran out of stack";
            case OutOfMemoryError _ -> "a call of this process ran out of memory";
            default -> "a call of this process failed with an error of the virtual machine";
        };
    }

    /** A call of the application that may fail. */
    interface GuardedCall<T extends @Nullable Object> {
        T call() throws IOException;
    }

    /** Runs a call under the lock; an {@link RdmaException} is thrown as an exception of java.net. */
    final <T extends @Nullable Object> T guarded(GuardedCall<T> call) throws IOException {
        synchronized (lock) {
            try {
                return call.call();
            } catch (RdmaException refused) {
                throw SocketFailures.of(refused);
            } catch (UncheckedIOException failed) {
                throw failed.getCause();
            } catch (Error failed) {
                onError(reason(failed));
                throw failed;
            }
        }
    }
}
