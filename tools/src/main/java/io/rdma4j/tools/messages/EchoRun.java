package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.CmVerbs;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import java.lang.foreign.Arena;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;

/** A run of rdma_client or rdma_server: one message in each direction. */
abstract class EchoRun extends EndpointRun {
    /** Attributes for one message in each direction, inline if the device supports it, with a completion for each. */
    static final CmQueuePairAttributes ATTRIBUTES = CmQueuePairAttributes.of(
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
        Set<CmVerbs.Flag> flags = flags(id);
        CmVerbs calls = new CmVerbs(id);
        try (Arena arena = Arena.ofShared();
                MemoryRegion incoming = register("recv_msg", calls, arena);
                MemoryRegion outgoing = register("send_msg", calls, arena)) {
            step("rdma_post_recv", () -> calls.postReceive(0, incoming, 0, MESSAGE_BYTES));
            try {
                step(name, connect);
                try {
                    exchange(new Messages(calls, outgoing, flags));
                } finally {
                    disconnect(id);
                }
            } finally {
                id.destroyQueuePair(); // before its memory is deregistered
            }
        }
    }

    private Set<CmVerbs.Flag> flags(CmId id) {
        if (Objects.requireNonNull(id.queuePair()).capabilities().maxInlineBytes() >= MESSAGE_BYTES) {
            return EnumSet.of(CmVerbs.Flag.INLINE);
        }
        report.step("device doesn't support IBV_SEND_INLINE, using sge sends");
        return EnumSet.noneOf(CmVerbs.Flag.class);
    }

    private MemoryRegion register(String what, CmVerbs calls, Arena arena) throws ToolFailure {
        return call("rdma_reg_msgs for " + what, () -> calls.register(arena.allocate(MESSAGE_BYTES)));
    }

    /** The two messages of a connection. */
    final class Messages {
        private final CmVerbs calls;
        private final MemoryRegion outgoing;
        private final Set<CmVerbs.Flag> flags;

        private Messages(CmVerbs calls, MemoryRegion outgoing, Set<CmVerbs.Flag> flags) {
            this.calls = calls;
            this.outgoing = outgoing;
            this.flags = flags;
        }

        void send() throws ToolFailure {
            step("rdma_post_send", () -> calls.postSend(0, outgoing, 0, MESSAGE_BYTES, flags));
        }

        /** Waits until the message has been sent, and returns whether the peer received it. */
        boolean awaitSend() throws ToolFailure {
            return EchoRun.this.awaitSend("rdma_get_send_comp", calls);
        }

        /** Waits for the peer's message. */
        void awaitReceive() throws ToolFailure {
            EchoRun.this.awaitReceive(calls);
        }
    }
}
