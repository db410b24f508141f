package io.rdma4j.tools.messages;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmMessages;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import java.lang.foreign.Arena;

/** A run of rdma_xclient or rdma_xserver: one message from the client over a connection of either kind. */
abstract class CommunicationRun extends EndpointRun {
    final CommunicationOptions communication;

    /**
     * Prepares a run.
     *
     * @param role server or client
     */
    CommunicationRun(String role, CommunicationOptions communication, ToolEnvironment environment) {
        super("rdma_x", role, communication.endpoint(), environment);
        this.communication = communication;
        environment.report().parameter("communication", communication.extended() ? "XRC" : "RC");
    }

    /** What is done between the calls that all runs have in common. */
    interface Step {
        void run(CmMessages calls, MemoryRegion memory) throws EndpointFailure;
    }

    /**
     * Connects, passes the message, and disconnects.
     *
     * @param id not yet connected
     * @param connect up to the connection
     * @param pass what follows
     */
    final void converse(CmId id, Step connect, Step pass) throws EndpointFailure {
        CmMessages calls = new CmMessages(id);
        try (Arena arena = Arena.ofShared();
                MemoryRegion memory = call("rdma_reg_msgs", () -> calls.register(arena.allocate(MESSAGE_BYTES)))) {
            try {
                connect.run(calls, memory);
                try {
                    pass.run(calls, memory);
                } finally {
                    disconnect(id);
                }
            } finally {
                id.destroyQueuePair(); // before its memory goes
                id.destroySharedReceiveQueue();
            }
        }
    }

    /** What queue pairs are made of: for one message where the connection's end has the direction. */
    final CmQueuePairAttributes attributes(boolean sends, boolean receives) {
        int send = sends || !communication.extended() ? 1 : 0;
        int receive = receives || !communication.extended() ? 1 : 0;
        return new CmQueuePairAttributes(
                new QueuePairCapabilities(send, receive, send, receive, send * MESSAGE_BYTES),
                null,
                null,
                true,
                null,
                null);
    }
}
