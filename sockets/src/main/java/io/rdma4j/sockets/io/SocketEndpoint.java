package io.rdma4j.sockets.io;

import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** What endpoints of streams and of datagrams have in common: one lock, who waits, and how failures are told. */
public abstract sealed class SocketEndpoint implements Waitable, CompletionHub.Target
        permits StreamEndpoint, DatagramEndpoint {
    /** How an endpoint finds out what it is ready for. */
    enum Look {
        /** By what it has been told. */
        KNOWN,
        /** It also takes what has come. */
        NOW,
        /** Like {@link #NOW}, and it is told of what comes after that. */
        TO_WAIT
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
            // Who waits finds out by itself.
            return;
        } finally {
            lock.unlock();
            waiting.signalAll();
        }
    }

    /** Whether it is closed. */
    public abstract boolean isClosed();

    /** Closes it. Threads that wait find it closed. Closing twice does nothing. */
    public abstract void close();

    /** The hub has told of completions, and tells of no more until it is asked again; under the lock. */
    abstract void takeCompletions();

    /** What an application asks for. */
    interface GuardedCall<T extends @Nullable Object> {
        T call() throws IOException;
    }

    /** Does it under the lock; what RDMA refuses fails in the terms of java.net. */
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
