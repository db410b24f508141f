package io.rdma4j;

import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A connection that is being established: {@link Connector#start} and {@link ConnectionRequest#start} start it without waiting
 * for the peer, so that one thread can establish many connections at the same time, or both ends of one. Used by one thread at a
 * time.
 */
public final class Connecting implements AutoCloseable {
    private final Connection connection;
    private final Steps steps;
    private final AtomicBoolean isTaken = new AtomicBoolean();

    Connecting(Connection connection, Steps steps) {
        this.connection = connection;
        this.steps = steps;
    }

    /**
     * Waits until the connection is established, for the rest of its timeout.
     *
     * @throws IllegalStateException if this was called before, or this object is closed
     * @throws io.rdma4j.verbs.RdmaException as {@link Connector#connect()} and {@link ConnectionRequest#accept()}
     */
    public Connection await() {
        if (!isTaken.compareAndSet(false, true)) {
            throw new IllegalStateException("the connection was taken or given up before");
        }
        try {
            connection.awaitEstablished(steps);
            return connection;
        } catch (RuntimeException | Error failed) {
            Cleanup.after(failed, connection::abandon);
            throw failed;
        }
    }

    /** Abandons the connection, unless {@link #await} has been called. */
    @Override
    public void close() {
        if (isTaken.compareAndSet(false, true)) {
            connection.abandon();
        }
    }

    @Override
    public String toString() {
        return "connecting: " + connection;
    }
}
