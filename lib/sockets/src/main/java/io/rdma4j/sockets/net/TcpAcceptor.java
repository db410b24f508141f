package io.rdma4j.sockets.net;

import io.rdma4j.sockets.io.SystemTime;
import io.rdma4j.verbs.wait.Signal;
import java.io.IOException;
import java.net.SocketImpl;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A TCP listener next to a listener over RDMA. While the program waits for a connection, a virtual thread waits for one
 * over TCP. A connection that arrives after the program has stopped waiting is kept for the next call. Thread safe.
 */
final class TcpAcceptor {
    /** The maximum time that {@link #close} waits for the virtual thread, which ends as soon as a processor runs it. */
    private static final long MAX_CLOSE_NANOS = 1_000_000_000L;

    private final SocketImpl listener;
    private final Signal arrived = new Signal();
    private boolean isAccepting;
    private boolean isClosed;
    private @Nullable SocketImpl accepted;
    private @Nullable IOException failure;

    /** Creates an acceptor of a bound implementation of the platform, which has no timeout. */
    TcpAcceptor(SocketImpl listener) {
        this.listener = listener;
    }

    void listen(int backlog) throws IOException {
        PlatformSockets.listen(listener, backlog);
    }

    /** Returns the signal that is raised when {@link #poll} has a result. */
    Signal arrived() {
        return arrived;
    }

    /**
     * Returns an accepted connection, or null if there is none. The signal is raised when there is one.
     *
     * @throws IOException if accepting has failed, for example for lack of file descriptors
     */
    synchronized @Nullable SocketImpl poll() throws IOException {
        IOException why = failure;
        failure = null;
        if (why != null) {
            throw why;
        }
        SocketImpl next = accepted;
        accepted = null;
        if (next == null && !isAccepting && !isClosed) {
            Thread.ofVirtual().name("rdma4j-tcp-accept").start(this::accept);
            isAccepting = true;
        }
        return next;
    }

    private void accept() {
        SocketImpl next = null;
        IOException why = null;
        try {
            next = PlatformSockets.accept(listener);
        } catch (IOException e) {
            why = e;
        } finally {
            boolean keep = end(next, why); // after an error, the next call of poll tries again
            arrived.raise();
            if (next != null && !keep) {
                closeQuietly(next);
            }
        }
    }

    private synchronized boolean end(@Nullable SocketImpl next, @Nullable IOException why) {
        isAccepting = false;
        notifyAll();
        if (!isClosed) {
            accepted = next;
            failure = why;
        }
        return !isClosed;
    }

    /**
     * Closes the listener, and an accepted connection that no call has returned. The platform releases the port when
     * the virtual thread has left its call, so this method waits for the thread.
     */
    void close() throws IOException {
        SocketImpl kept;
        synchronized (this) {
            isClosed = true;
            kept = accepted;
            accepted = null;
        }
        try {
            PlatformSockets.close(listener);
            awaitEnd();
        } finally {
            if (kept != null) {
                closeQuietly(kept);
            }
        }
    }

    private synchronized void awaitEnd() {
        boolean interrupted = false;
        long deadline = SystemTime.nanos() + MAX_CLOSE_NANOS; // system time: for a TCP socket of the platform
        long remaining = MAX_CLOSE_NANOS;
        while (isAccepting && remaining > 0) {
            try {
                TimeUnit.NANOSECONDS.timedWait(this, remaining);
            } catch (InterruptedException e) {
                interrupted = true;
            }
            remaining = deadline - SystemTime.nanos();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private static void closeQuietly(SocketImpl connection) {
        try {
            PlatformSockets.close(connection);
        } catch (IOException _) {
            // The program has never seen this connection.
        }
    }
}
