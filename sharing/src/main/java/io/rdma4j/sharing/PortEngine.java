package io.rdma4j.sharing;

import io.rdma4j.link.LinkSet;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.decorator.LinkDecorator;
import java.util.function.LongConsumer;

/**
 * The engine that drives the shared ports of a process: its time, its links, and what becomes of the frames that arrive.
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

    /** Creates a timer whose task gets the time when its deadline has passed; the deadline is no longer set then. */
    Timer timer(LongConsumer task);

    /** Returns the set that opens links and channels for the engine. */
    LinkSet links();

    /** Returns what adds the capture, trace and faults that the process is configured for to links. */
    LinkDecorator decorator();

    /** Processes frames that arrived at UDP port 4791, for this process or to be {@linkplain Port#relay relayed}. */
    void onFrames(long nowNanos, Port port, ReceiveBurst burst);

    /** Processes frames for this process, which the owner has relayed or another process has sent directly. */
    void onRelayedFrames(long nowNanos, Port port, ReceiveBurst burst);

    /** Makes all other engines of the process receive their pending frames. */
    void receivePendingOfOthers();

    /** Wakes the threads that wait for {@link HostPort#isConnected}, {@link HostPort#isRegistered} or {@link HostPort#isRefused}. */
    void onProgress();

    /** Takes note of another {@linkplain HostPort#role role} of this process. */
    void onRole(HostPort port);
}
