package io.rdma4j.sockets.io;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.SharedThread;
import io.rdma4j.verbs.wait.WaitDriver;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The identifiers of sockets over one connection manager. A dedicated thread dispatches their events to endpoints, so
 * that data never waits for them. The thread is a daemon, which the first stream socket starts. Thread safe.
 */
public final class ConnectionService implements AutoCloseable {
    /** Handles the events of one identifier, in the service's thread. */
    interface Target extends SharedThread.Failing<CmEvent> {
        /**
         * Handles an event of the identifier, or a connection request for it ({@link CmEvent#id} is then new).
         *
         * @param event the event, acknowledged after this call
         */
        void onEvent(CmEvent event);

        /**
         * Fails the connection of an event, after {@link #onEvent} has thrown an exception or an error. The call is
         * repeated if it also throws, for example for lack of memory. By default, it does nothing.
         */
        @Override
        default void onFailure(CmEvent event, Throwable why) {}
    }

    /** The time that {@link #close} waits for closed sockets to release their identifiers. */
    private static final long CLOSE_NANOS = 10_000_000_000L;

    private static final long CLOSE_POLL_NANOS = 1_000_000;

    private static final ConnectionService OF_PROCESS = new ConnectionService(ConnectionManager::ofProcess);

    private final Supplier<ConnectionManager> connectionManager;
    private final RefusedPeers refusedPeers =
            RefusedPeers.ofProperties(() -> waitDriver().nanoTime());
    private volatile @Nullable EventChannel channel;
    private volatile boolean closed;

    /** Creates a service over a connection manager. */
    public ConnectionService(ConnectionManager connectionManager) {
        this(() -> connectionManager);
    }

    private ConnectionService(Supplier<ConnectionManager> connectionManager) {
        this.connectionManager = connectionManager;
    }

    /** Returns the service over the connection manager of this process, which is never closed. */
    public static ConnectionService ofProcess() {
        return OF_PROCESS;
    }

    /** Returns the peers that refused connections of this service over RDMA or did not answer. */
    public RefusedPeers refusedPeers() {
        return refusedPeers;
    }

    /**
     * Creates an identifier for a stream socket. A target handles its events.
     *
     * @throws RdmaException {@code ENODEV} if there is no device; the next call tries again
     */
    CmId createId(Target target) {
        return channel().createId(PortSpace.TCP, target);
    }

    /** Opens a channel for the caller, which moves a new identifier to it and handles the first events itself. */
    EventChannel openChannel() {
        return connectionManager.get().openEventChannel();
    }

    /** Moves an identifier back from such a channel to this service, which handles its later events. */
    void take(CmId id) {
        id.migrate(channel());
    }

    /** Creates an identifier for a datagram socket. It is synchronous: this service does not dispatch its events. */
    CmId createDatagramId() {
        return connectionManager.get().createId(PortSpace.UDP);
    }

    /**
     * Returns the driver that makes progress while a thread waits for a connection. It has the clock of the sockets'
     * deadlines.
     */
    WaitDriver waitDriver() {
        EventChannel current = channel;
        return current == null ? SystemTime.PARKING : current.waitDriver();
    }

    private EventChannel channel() {
        EventChannel current = channel;
        return current == null ? open() : current;
    }

    private synchronized EventChannel open() {
        EventChannel current = channel;
        if (current != null) {
            return current;
        }
        EventChannel opened = connectionManager.get().openEventChannel();
        if (closed) {
            opened.close(); // the channel refuses further identifiers
        } else {
            SharedThread.start("rdma4j-sockets", () -> handleNext(opened));
        }
        channel = opened;
        return opened;
    }

    private static boolean handleNext(EventChannel events) {
        try {
            CmEvent event = events.waitDriver().isInVirtualTime() ? parkForEvent(events) : events.await();
            if (event != null) {
                handle(event);
            }
            return true;
        } catch (ClosedException finished) {
            return false;
        }
    }

    /** Waits without driving the device: only the threads of the program let virtual time pass. */
    private static @Nullable CmEvent parkForEvent(EventChannel events) {
        boolean _ = events.signal().await(SystemTime.PARKING, events::isReady, Long.MAX_VALUE);
        return events.poll();
    }

    /**
     * Handles an event. A failure, even an error of the virtual machine, fails only the socket that the event is for.
     */
    private static void handle(CmEvent event) {
        CmId receiver = event instanceof CmEvent.ConnectRequest request ? request.listener() : event.id();
        Object target = receiver.context();
        try (event) {
            if (target instanceof Target endpoint) {
                handle(endpoint, event);
            }
        }
    }

    private static void handle(Target endpoint, CmEvent event) {
        try {
            endpoint.onEvent(event);
        } catch (RuntimeException | Error failed) {
            SharedThread.insist(endpoint, event, failed);
        }
    }

    /**
     * Ends the thread. No stream socket can be bound or connected afterwards. Waits at most ten seconds until closed
     * sockets have delivered their data and released their identifiers. Closing a closed service has no effect.
     *
     * @throws RdmaException {@code EBUSY} if sockets are still open after that time; the service stays open
     */
    @Override
    public void close() {
        close(CLOSE_NANOS);
    }

    /** Closes the service like {@link #close()}; waits {@code maxNanos} at most. */
    synchronized void close(long maxNanos) {
        EventChannel current = channel;
        long deadline = SystemTime.nanos() + maxNanos; // system time: for threads of this process
        while (current != null && !isClosed(current, SystemTime.nanos() - deadline >= 0)) {
            LockSupport.parkNanos(CLOSE_POLL_NANOS);
        }
        closed = true;
    }

    private static boolean isClosed(EventChannel channel, boolean isLate) {
        try {
            channel.close();
            return true;
        } catch (RdmaException busy) {
            if (isLate || busy.errno() != Errno.EBUSY) {
                throw busy;
            }
            return false;
        }
    }
}
