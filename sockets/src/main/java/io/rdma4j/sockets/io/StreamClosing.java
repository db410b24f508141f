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

    /** When a peer is given up: a queue pair tries no longer than 69 s to reach one that does not answer at all. */
    static final long MOST_NANOS = 70_000_000_000L;

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

    /**
     * Ends it.
     *
     * @param waitNanos how long this waits for the peer; after that a thread of its own does
     * @param mostNanos when the peer is given up
     */
    void run(long waitNanos, long mostNanos) {
        ClosingsUnderWay.all().begun();
        long giveUpNanos = System.nanoTime() + mostNanos;
        boolean ended = false;
        try {
            if (awaitQuiet(System.nanoTime() + Math.min(waitNanos, mostNanos)) || waitNanos >= mostNanos) {
                release();
                ended = true;
            }
        } finally {
            if (ended) {
                ClosingsUnderWay.all().ended();
            } else {
                Thread.ofVirtual().name("rdma4j-closing").start(() -> finish(giveUpNanos));
            }
        }
    }

    private void finish(long giveUpNanos) {
        try {
            awaitQuiet(giveUpNanos);
        } finally {
            release();
            ClosingsUnderWay.all().ended();
        }
    }

    /** Waits until the peer has all that was written, or never will. */
    private boolean awaitQuiet(long deadlineNanos) {
        SocketWaiter waiter = new SocketWaiter();
        waiting.add(waiter);
        boolean interrupted = false;
        try {
            while (true) {
                waiter.reset();
                if (isQuiet()) {
                    return true;
                }
                interrupted |= Thread.interrupted();
                if (SocketWaiter.isOver(deadlineNanos)) {
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
        } finally {
            onReleased.run();
            lock.unlock();
            id.setContext(null); // the connection manager remembers the connection for a while, not what it was for
            id.close();
        }
    }
}
