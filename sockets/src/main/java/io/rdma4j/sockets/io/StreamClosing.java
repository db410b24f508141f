package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.RdmaException;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The end of a connection whose endpoint is closed: the peer gets what was written, then the connection and its memory go.
 */
final class StreamClosing {
    /** How long whoever closes waits if nothing else is said. */
    static final long LINGER_NANOS = 1_000_000_000L;

    private final ReentrantLock lock;
    private final WaitList waiting;
    private final ConnectedStream stream;
    private final CmId id;
    private final Runnable onReleased;

    /**
     * The end of a stream under a lock.
     *
     * @param waiting is told of its completions
     * @param onReleased called under the lock when its memory has gone
     */
    StreamClosing(ReentrantLock lock, WaitList waiting, ConnectedStream stream, CmId id, Runnable onReleased) {
        this.lock = lock;
        this.waiting = waiting;
        this.stream = stream;
        this.id = id;
        this.onReleased = onReleased;
    }

    /** Ends it; after a time in a thread of its own. */
    void run(long lingerNanos) {
        if (awaitQuiet(System.nanoTime() + lingerNanos)) {
            release();
        } else {
            Thread.ofVirtual().start(() -> {
                awaitQuiet(Long.MAX_VALUE);
                release();
            });
        }
    }

    /** Waits until the peer has all that was written, or never will. */
    private boolean awaitQuiet(long deadlineNanos) {
        Waiter waiter = new Waiter();
        waiting.add(waiter);
        boolean interrupted = false;
        try {
            while (true) {
                waiter.reset();
                if (isQuiet()) {
                    return true;
                }
                interrupted |= Thread.interrupted();
                if (Waiter.isOver(deadlineNanos)) {
                    return false;
                }
                stream.resources().hub().await(waiter, deadlineNanos);
            }
        } finally {
            waiting.remove(waiter);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean isQuiet() {
        lock.lock();
        try {
            return stream.isQuiet();
        } finally {
            lock.unlock();
        }
    }

    /** Gives everything back, whether or not it was connected. */
    void release() {
        try {
            id.disconnect();
        } catch (RdmaException notConnected) {
            // Then there is nobody to tell.
        }
        lock.lock();
        try {
            stream.resources().close();
            onReleased.run();
        } finally {
            lock.unlock();
        }
        id.setContext(null); // the connection manager remembers the connection for a while, not what it was for
        id.close();
    }
}
