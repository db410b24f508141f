package io.rdma4j.simulator.network;

/** Receives the UDP messages to a port of a {@link SimulatedHost}. */
@FunctionalInterface
public interface MessageReceiver {
    /**
     * Called for each message that arrives.
     *
     * @param from the sender
     * @param fromPort the sender's port
     * @param bytes the message, which is not modified afterwards and may be kept
     */
    void onMessage(SimulatedHost from, int fromPort, byte[] bytes);
}
