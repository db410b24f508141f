package io.rdma4j.sockets.io;

import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The common base of stream and datagram endpoints: a lock, the waiters, and the translation of failures. */
public abstract sealed class SocketEndpoint implements Waitable, CompletionHub.Target
        permits StreamEndpoint, DatagramEndpoint {
    /** How a readiness check obtains its result. */
    enum Check {
        /** From the current state, without polling. */
        KNOWN,
        /** After polling for completions. */
        POLL,
        /** Like {@link #POLL}, and the listeners are notified of later changes. */
        ARM
    }

    final ReentrantLock lock = new ReentrantLock();
    final WaitList waiting = new WaitList();

    SocketEndpoint() {}

    @Override
    public final int await(int wanted, long deadlineNanos) {
        return Waiting.await(this, waiting, wanted, deadlineNanos);
    }

    @Override
    public final void addListener(Runnable listener) {
        waiting.add(listener);
    }

    @Override
    public final void removeListener(Runnable listener) {
        waiting.remove(listener);
    }

    @Override
    public final void onCompletions() {
        lock.lock();
        try {
            takeCompletions();
        } catch (RdmaException broken) {
            // A waiting thread finds the failure itself.
            return;
        } finally {
            lock.unlock();
            waiting.signalAll();
        }
    }

    /** Returns whether the endpoint is closed. */
    public abstract boolean isClosed();

    /** Closes the endpoint. Waiting threads return. Closing a closed endpoint has no effect. */
    public abstract void close();

    /**
     * Handles completions that the hub reported. The hub reports no further completions until it is armed again. Called
     * with the lock held.
     */
    abstract void takeCompletions();

    /** A call of the application that may fail. */
    interface GuardedCall<T extends @Nullable Object> {
        T call() throws IOException;
    }

    /** Runs a call under the lock; an {@link RdmaException} is thrown as an exception of java.net. */
    final <T extends @Nullable Object> T guarded(GuardedCall<T> call) throws IOException {
        lock.lock();
        try {
            return call.call();
        } catch (RdmaException refused) {
            throw SocketFailures.of(refused);
        } catch (UncheckedIOException failed) {
            throw failed.getCause();
        } finally {
            lock.unlock();
        }
    }
}
