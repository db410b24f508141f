package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.SharedThread;
import io.rdma4j.verbs.wait.Waiter;

/**
 * The end of the connection of a closed endpoint. The remaining data is delivered, then the connection and its memory
 * are released.
 */
final class StreamClosing {
    /** The default time that a closing thread waits. */
    static final long LINGER_NANOS = 1_000_000_000L;

    /**
     * The time after which the peer is given up. It is one second longer than the time after which a queue pair gives
     * up a peer that does not respond.
     */
    static final long MAX_NANOS = StreamConnecting.MIN_PAUSE_NANOS + 1_000_000_000L;

    /** Allocated in advance, since there may be no memory when it is needed. */
    private static final SharedThread.Failing<StreamClosing> CONTINUE = (closing, _) -> closing.continueInBackground();

    private final StreamEndpoint endpoint;
    private final ConnectedStream stream;
    private final CmId id;
    private final Runnable onReleased;

    /** The time when the peer is given up. */
    private long giveUpNanos;

    /**
     * Creates the closing of a stream.
     *
     * @param endpoint the endpoint. Its lock guards the stream, and its signal is raised at completions
     * @param onReleased called with the lock held, after the memory was released
     */
    StreamClosing(StreamEndpoint endpoint, ConnectedStream stream, CmId id, Runnable onReleased) {
        this.endpoint = endpoint;
        this.stream = stream;
        this.id = id;
        this.onReleased = onReleased;
    }

    /**
     * Closes the connection, even if its setup has not finished.
     *
     * @param before the state of the endpoint before it was closed
     * @param isDisconnecting true if data may still have to reach the peer
     * @param waitNanos the time to wait for the peer in this thread; after that, a virtual thread continues
     * @param maxNanos the time after which the peer is given up
     */
    void run(StreamEndpoint.State before, boolean isDisconnecting, long waitNanos, long maxNanos) {
        if (isDisconnecting) {
            run(waitNanos, maxNanos);
        } else if (before == StreamEndpoint.State.CONNECTING
                && stream.resources().isIwarp()) {
            releaseInBackground();
        } else {
            release();
        }
    }

    /**
     * Closes the connection.
     *
     * @param waitNanos the time to wait for the peer in this thread; after that, a virtual thread continues
     * @param maxNanos the time after which the peer is given up
     */
    void run(long waitNanos, long maxNanos) {
        PendingCloses.all().begun();
        giveUpNanos = endpoint.nanoTime() + maxNanos;
        boolean ended = false;
        try {
            if (awaitQuiet(endpoint.nanoTime() + Math.min(waitNanos, maxNanos)) || waitNanos >= maxNanos) {
                release();
                ended = true;
            }
        } finally {
            if (ended) {
                PendingCloses.all().ended();
            } else {
                try {
                    continueInBackground();
                } catch (OutOfMemoryError full) {
                    SharedThread.insist(CONTINUE, this, full);
                }
            }
        }
    }

    private void continueInBackground() {
        Thread.ofVirtual().name("rdma4j-closing").start(this::finish);
    }

    private void finish() {
        try {
            awaitQuiet(giveUpNanos);
        } finally {
            release();
            PendingCloses.all().ended();
        }
    }

    /** Waits until the peer has received all written bytes, or can no longer receive them. Returns false on timeout. */
    private boolean awaitQuiet(long deadlineNanos) {
        Waiter waiter = new Waiter();
        endpoint.changed.add(waiter);
        boolean interrupted = false;
        try {
            while (true) {
                waiter.reset();
                if (isQuiet()) {
                    return true;
                }
                interrupted |= Thread.interrupted();
                if (!waiter.await(stream.resources().waitDriver(), deadlineNanos) && endpoint.isOver(deadlineNanos)) {
                    return false;
                }
            }
        } finally {
            endpoint.changed.remove(waiter);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private boolean isQuiet() {
        synchronized (endpoint.lock) {
            return stream.isQuiet();
        }
    }

    /**
     * Releases a stream that is still connecting, in a separate thread. On iWARP, the kernel destroys its identifier
     * only when the peer has replied or the time for the reply has passed, which is 10 s on siw.
     */
    private void releaseInBackground() {
        try {
            Thread.ofPlatform().daemon().name("rdma4j-closing").start(this::release);
        } catch (OutOfMemoryError noThread) {
            release();
        }
    }

    /** Releases everything, even if the stream was never connected. */
    void release() {
        try {
            id.disconnect();
        } catch (RdmaException notConnected) {
            // There is no peer to notify.
        } finally {
            try {
                releaseStream();
            } finally {
                id.setContext(null); // the connection manager keeps the identifier for a while, but not the endpoint
                id.close();
            }
        }
    }

    /**
     * Releases the memory, without holding the lock. Closing a completion queue waits until its events are
     * acknowledged, and the thread that handles the events of all sockets may wait for the lock.
     */
    private void releaseStream() {
        try {
            synchronized (endpoint.lock) {
                stream.resources().end();
            }
        } finally {
            try {
                stream.resources().close();
            } finally {
                synchronized (endpoint.lock) {
                    onReleased.run();
                }
            }
        }
    }
}
