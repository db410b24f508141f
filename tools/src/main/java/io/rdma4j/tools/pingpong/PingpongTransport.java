package io.rdma4j.tools.pingpong;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;

/** What differs between the ping-pongs: the kind of queue pair, and how it is brought to work. */
interface PingpongTransport {
    /**
     * Makes the queue pair, in the reset state.
     *
     * @throws RdmaException if the device refuses
     */
    QueuePair create(ProtectionDomain domain, CompletionQueue completions, PingpongOptions options);

    /**
     * Brings it to the INIT state.
     *
     * @throws RdmaException if the device refuses
     */
    void initialise(QueuePair queuePair, PingpongOptions options);

    /**
     * Brings it to the RTR state.
     *
     * @throws RdmaException if the device refuses
     */
    void readyToReceive(QueuePair queuePair, PingpongOptions options, int gidIndex, Destination remote);

    /**
     * Brings it to the RTS state.
     *
     * @throws RdmaException if the device refuses
     */
    void readyToSend(QueuePair queuePair, Destination local);
}
