package io.rdma4j.tools.messages;

import io.rdma4j.cm.CmId;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.lang.foreign.Arena;

/** A run of rdma_xclient or rdma_xserver: one message from the client over an RC or XRC connection. */
abstract class CommunicationRun extends EndpointRun {
    final CommunicationOptions communication;

    /**
     * Creates a run.
     *
     * @param role server or client
     */
    CommunicationRun(String role, CommunicationOptions communication, ToolEnvironment environment) {
        super("rdma_x", role, communication.endpoint(), environment);
        this.communication = communication;
        environment.report().parameter("communication", communication.extended() ? "XRC" : "RC");
    }

    /** One phase of a connection. */
    interface Phase {
        void run(MemoryRegion memory) throws ToolFailure;
    }

    /**
     * Connects, transfers the message, and disconnects.
     *
     * @param id an identifier that is not yet connected
     * @param connect establishes the connection
     * @param transfer transfers the message
     */
    final void runConnection(CmId id, Phase connect, Phase transfer) throws ToolFailure {
        try (Arena arena = Arena.ofShared();
                MemoryRegion memory = register("rdma_reg_msgs", id, arena)) {
            try {
                connect.run(memory);
                try {
                    transfer.run(memory);
                } finally {
                    disconnect(id);
                }
            } finally {
                id.destroyQueuePair(); // before its memory is deregistered
                id.destroySharedReceiveQueue();
            }
        }
    }

    /** Returns the attributes of a queue pair for one message in each direction that this side uses. */
    final QueuePairInitAttributes attributes(boolean sends, boolean receives) {
        int send = sends || !communication.extended() ? 1 : 0;
        int receive = receives || !communication.extended() ? 1 : 0;
        return QueuePairInitAttributes.of(new QueuePairCapabilities(send, receive, send, receive, send * MESSAGE_BYTES))
                .withSignalAll(true);
    }
}
