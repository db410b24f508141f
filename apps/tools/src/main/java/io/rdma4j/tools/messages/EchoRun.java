package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.CmId;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SendWorkRequest;
import java.lang.foreign.Arena;

/** A run of rdma_client or rdma_server: one message in each direction. */
abstract class EchoRun extends EndpointRun {
    /** Attributes for one message in each direction, inline if the device supports it, with a completion for each. */
    static final QueuePairInitAttributes ATTRIBUTES = QueuePairInitAttributes.of(
                    new QueuePairCapabilities(1, 1, 1, 1, MESSAGE_BYTES))
            .withSignalAll(true);

    /**
     * Creates a run.
     *
     * @param role server or client
     */
    EchoRun(String role, EndpointOptions options, ToolEnvironment environment) {
        super("rdma_", role, options, environment);
    }

    /** Exchanges the messages of a connected identifier. */
    abstract void exchange(Messages messages) throws ToolFailure;

    /** Resolves the server's address. */
    final AddressInformation lookUp(AddressInformation.Flag... flags) throws ToolFailure {
        return lookUp(AddressInformation.Hints.of(PortSpace.TCP, flags));
    }

    /**
     * Posts the receive, connects, exchanges messages and disconnects.
     *
     * @param id an identifier with a queue pair, not yet connected
     * @param name C's name of the call that connects
     * @param connect connects the identifier
     */
    final void runConnection(CmId id, String name, Runnable connect) throws ToolFailure {
        boolean isInline = supportsInline(id);
        try (Arena arena = Arena.ofShared();
                MemoryRegion incoming = register("rdma_reg_msgs for recv_msg", id, arena);
                MemoryRegion outgoing = register("rdma_reg_msgs for send_msg", id, arena)) {
            step("rdma_post_recv", () -> postReceive(id, incoming));
            try {
                step(name, connect);
                try {
                    exchange(new Messages(id, outgoing, isInline));
                } finally {
                    disconnect(id);
                }
            } finally {
                id.destroyQueuePair(); // before its memory is deregistered
            }
        }
    }

    private boolean supportsInline(CmId id) {
        boolean isSupported = queuePair(id).capabilities().maxInlineBytes() >= MESSAGE_BYTES;
        if (!isSupported) {
            report.step("device doesn't support IBV_SEND_INLINE, using sge sends");
        }
        return isSupported;
    }

    /** The two messages of a connection. */
    final class Messages {
        private final CmId id;
        private final SendWorkRequest message;

        private Messages(CmId id, MemoryRegion outgoing, boolean isInline) {
            this.id = id;
            message = SendWorkRequest.send(0, outgoing);
            if (isInline) {
                message.inline();
            }
        }

        void send() throws ToolFailure {
            step("rdma_post_send", () -> queuePair(id).postSend(message));
        }

        /** Waits until the message has been sent, and returns whether the peer received it. */
        boolean awaitSend() throws ToolFailure {
            return EchoRun.this.awaitSend("rdma_get_send_comp", id);
        }

        /** Waits for the peer's message. */
        void awaitReceive() throws ToolFailure {
            EchoRun.this.awaitReceive(id);
        }
    }
}
