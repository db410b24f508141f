package io.rdma4j.link.linux;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * A spare descriptor, for use when the process has no others.
 *
 * <p>A listener uses it to accept a connection and refuse it. Otherwise the connection would stay pending, and end every wait
 * immediately. If another thread has taken the descriptor meanwhile, the set does not wait for the listener for a while.
 */
final class DescriptorReserve {
    private static final int NONE = -1;

    private final MemorySegment errno = Posix.newErrno();
    private final PollDescriptors pending = new PollDescriptors(1);
    private int fd = NONE;

    /** True while there is a listener that the set does not wait for. */
    private volatile boolean hasSuspended;

    /** Opens the descriptor if it is not open and there is one. */
    void fill() {
        if (fd == NONE) {
            fd = Math.max(NONE, Posix.eventfd(errno));
        }
    }

    /** Closes the descriptor; returns whether it was open. */
    private boolean take() {
        boolean wasOpen = fd != NONE;
        if (wasOpen) {
            Posix.close(fd);
            fd = NONE;
        }
        return wasOpen;
    }

    void close() {
        boolean _ = take();
    }

    /**
     * Accepts a connection as a non-blocking descriptor. If this process lacks descriptors, pending connections are refused.
     *
     * @param refusal the message to the processes that are refused, in a direct buffer; null for nothing
     * @return the descriptor, or a negative number if there is no connection
     */
    int accept(Socket listening, @Nullable ByteBuffer refusal) {
        int accepted = Posix.accept(listening.errno, listening.fd);
        while (LinuxErrno.isShortage(-accepted) && isPending(listening)) {
            if (!refuse(listening, refusal)) {
                listening.waitFor(Socket.NO_EVENTS);
                hasSuspended = true;
                return accepted;
            }
            accepted = Posix.accept(listening.errno, listening.fd);
        }
        listening.waitFor(Posix.POLLIN);
        return accepted;
    }

    /** Returns whether a connection is pending: the system checks for a descriptor before it checks for a connection. */
    private boolean isPending(Socket listening) {
        pending.set(0, listening.fd, Posix.POLLIN);
        return pending.await(1, 0);
    }

    private boolean refuse(Socket listening, @Nullable ByteBuffer refusal) {
        int accepted = take() ? Posix.accept(listening.errno, listening.fd) : NONE;
        if (accepted >= 0) {
            if (refusal != null) {
                int _ = Posix.send(
                        listening.errno,
                        accepted,
                        MemorySegment.ofBuffer(refusal).address(),
                        refusal.remaining());
            }
            Posix.close(accepted);
        }
        fill();
        return accepted >= 0;
    }

    /** Returns whether there is a listener that the set does not wait for now. */
    boolean hasSuspended() {
        return hasSuspended;
    }

    /** Notes that the set waits for all listeners again. */
    void resume() {
        hasSuspended = false;
    }
}
