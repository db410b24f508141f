package io.rdma4j.tools.perftest;

import io.rdma4j.tools.messages.Patience;
import org.jspecify.annotations.Nullable;

/** How the two sides tell each other what they must know. Not thread safe. */
interface ControlChannel extends AutoCloseable {
    /** Sends. */
    void send(byte[] data) throws PerftestFailure;

    /**
     * Waits for so many bytes: for {@link Patience} at most, unless the peer may be measuring.
     */
    byte[] receive(int length) throws PerftestFailure;

    /** Sends a place. */
    void sendDestination(PerftestDestination destination) throws PerftestFailure;

    /** Waits for a place. */
    PerftestDestination receiveDestination() throws PerftestFailure;

    /**
     * From now on the peer may be measuring while this side waits for it, which takes its time; before, both do nothing but
     * tell each other their parameters.
     */
    void expectRuns();

    /** What keeps the device going while this side waits; null while there is none. */
    void driveBy(@Nullable Runnable drive);

    /** Whether the peer is gone; looks, and does not wait. */
    boolean isOver();

    /** The last word where there is one. */
    void sayDone() throws PerftestFailure;

    @Override
    void close();
}
