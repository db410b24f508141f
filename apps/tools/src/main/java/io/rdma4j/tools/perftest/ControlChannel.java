package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.ToolFailure;
import org.jspecify.annotations.Nullable;

/** The channel over which the two sides exchange their parameters and results. Not thread safe. */
interface ControlChannel extends AutoCloseable {
    /** Sends the bytes. */
    void send(byte[] data) throws ToolFailure;

    /** Receives the given number of bytes. Waits at most {@link ReceiveTimeout}, unless the peer may be measuring. */
    byte[] receive(int length) throws ToolFailure;

    /** Sets the peer's version of the protocol, which may determine the format of a destination. */
    default void peerVersion(double version) {}

    /** Sends a destination. */
    void sendDestination(PerftestDestination destination) throws ToolFailure;

    /** Receives a destination. */
    PerftestDestination receiveDestination() throws ToolFailure;

    /**
     * Removes the timeout of {@link #receive}, because the peer may be measuring while this side waits. Until then the
     * two sides only exchange parameters.
     */
    void expectRuns();

    /** Sets the task that drives the device while this side waits, or null for none. */
    void driveWith(@Nullable Runnable progressTask);

    /** Returns whether the peer has closed the channel, without waiting. */
    boolean isClosed();

    /** Sends the final message, if the channel has one. */
    void sendDone() throws ToolFailure;

    @Override
    void close();
}
