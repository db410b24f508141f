package io.rdma4j.sockets;

import io.rdma4j.sockets.io.SocketEndpoint;
import io.rdma4j.verbs.wait.Waitable;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The calls that stream and datagram sockets have in common. Thread safe. */
abstract sealed class RdmaPollable implements AutoCloseable permits RdmaStreamSocket, RdmaDatagramSocket {
    static final Set<MessageFlag> NO_FLAGS = Set.of();

    private volatile boolean blocking = true;

    /** Returns the endpoint, for {@link RdmaPoll}. */
    abstract SocketEndpoint endpoint();

    /**
     * Sets whether calls block. A non-blocking socket does what is possible and returns immediately. C: {@code rfcntl}
     * with {@code O_NONBLOCK}.
     */
    public void configureBlocking(boolean value) {
        blocking = value;
    }

    /** Returns whether calls block. */
    public boolean isBlocking() {
        return blocking;
    }

    /** Returns whether a call with these flags blocks. */
    final boolean waits(Set<MessageFlag> flags) {
        return blocking && !flags.contains(MessageFlag.DONT_WAIT);
    }

    /**
     * Waits until the socket is ready. C: {@code rpoll} of one socket.
     *
     * @param events a set of {@link PollEvents}
     * @param timeout the maximum time to wait; zero to poll without blocking, null to wait indefinitely
     * @return the requested events that are ready, {@link PollEvents#ERROR} and {@link PollEvents#HANG_UP}; 0 on
     *     timeout
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public int await(int events, @Nullable Duration timeout) throws InterruptedIOException {
        return SocketWaits.poll(endpoint(), events, timeout);
    }

    /**
     * Returns the readiness of the socket, for a wait that includes channels and other sockets. C: the socket in
     * {@code rpoll}.
     *
     * @param events a set of {@link PollEvents}; {@link PollEvents#ERROR} and {@link PollEvents#HANG_UP} are always
     *     included
     * @see io.rdma4j.verbs.WaitSet
     */
    public Waitable readiness(int events) {
        return SocketWaits.readiness(endpoint(), events, toString());
    }

    /** Returns whether {@link #close} was called. */
    public boolean isClosed() {
        return endpoint().isClosed();
    }

    @Override
    public abstract void close();
}
