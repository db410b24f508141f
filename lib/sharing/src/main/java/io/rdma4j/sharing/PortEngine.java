package io.rdma4j.sharing;

import io.rdma4j.link.LinkSet;
import io.rdma4j.link.decorator.LinkDecorator;
import java.util.function.LongConsumer;

/**
 * The engine that drives the shared ports of a process. It provides the time and the links, and processes the frames that arrive.
 *
 * <p>Its lock guards the state of all ports. Every method is called under this lock, and so are all methods of a port unless stated
 * otherwise.
 */
public interface PortEngine {
    /** A deadline of a port. */
    @FunctionalInterface
    interface Timer {
        /** Sets or moves the deadline. */
        void set(long deadlineNanos);
    }

    /** Returns the time of the current duty cycle. */
    long nowNanos();

    /** Creates a timer. Its task is called with the time when the deadline has passed; the deadline is then cleared. */
    Timer timer(LongConsumer task);

    /** Returns the set that opens links and channels for the engine. */
    LinkSet links();

    /** Returns the decorator that adds the capture, trace and faults of the process' options to links. */
    LinkDecorator decorator();

    /** Returns the receiver that processes the frames that arrive. */
    FrameReceiver receiver();

    /** Makes all other engines of the process receive their pending frames. */
    void receivePendingOfOthers();

    /** Wakes the threads that wait for {@link HostPort#isConnected}, {@link HostPort#isRegistered} or {@link HostPort#isRefused}. */
    void onProgress();

    /** Called when the {@linkplain HostPort#roleName role} of this process has changed. */
    void onRole(HostPort port);
}
