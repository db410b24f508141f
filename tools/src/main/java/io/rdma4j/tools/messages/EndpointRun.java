package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmMessages;
import io.rdma4j.cm.CmQueuePairAttributes;
import io.rdma4j.cm.PortSpace;
import io.rdma4j.tools.Explanation;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A run of rdma_client or rdma_server, in synchronous calls: one connection with one message each way.
 *
 * <p>Where the C tool waits for ever for a message that nobody sends, or takes one that failed for one that came, a run
 * ends with a sentence.
 */
abstract class EndpointRun {
    /** Bytes of each message. */
    static final int MESSAGE_BYTES = 16;

    /** One message each way, inline if the device can, and each reported. */
    static final CmQueuePairAttributes ATTRIBUTES = new CmQueuePairAttributes(
            new QueuePairCapabilities(1, 1, 1, 1, MESSAGE_BYTES), null, null, true, null, null);

    /** What {@code rdma_getaddrinfo} returns when no resolver has failed, and the text that C's tools find for it. */
    private static final String NO_RESOLVER_ERROR = "Bad value for ai_flags";

    final MessageReport report;
    final EndpointOptions options;
    private final String role;
    private final ToolEnvironment environment;
    private int received;

    /** A call of the connection manager or the verbs. */
    interface Call<T extends @Nullable Object> {
        T run();
    }

    /**
     * Prepares a run.
     *
     * @param role server or client
     */
    EndpointRun(String role, EndpointOptions options, ToolEnvironment environment) {
        this.role = role;
        this.options = options;
        this.environment = environment;
        report = new MessageReport(environment, "rdma_" + role);
    }

    /** Runs it all; the exit status. */
    final int run() {
        Runnable atInterrupt = report::silence;
        environment.onInterrupt(atInterrupt);
        long began = System.nanoTime();
        environment
                .report()
                .parameter("role", role)
                .parameter("server", options.server())
                .parameter("port", options.port());
        report.step("start");
        int status = 0;
        try {
            exchange();
        } catch (EndpointFailure failure) {
            status = failure.status();
        } finally {
            environment.removeOnInterrupt(atInterrupt);
        }
        environment
                .report()
                .result("messagesReceived", received)
                .result("elapsedSeconds", (System.nanoTime() - began) / 1e9)
                .result("status", status);
        report.step("end " + status);
        return status;
    }

    /** Everything between the first and the last line. */
    abstract void exchange() throws EndpointFailure;

    /** The messages of a connected identifier. */
    abstract void exchange(Messages messages) throws EndpointFailure;

    // ---- calls

    /** Does what C's tool would explain with {@code perror}. */
    final <T extends @Nullable Object> T call(String name, Call<T> call) throws EndpointFailure {
        try {
            return call.run();
        } catch (RdmaException e) {
            report.failure(name, e);
            throw new EndpointFailure(-1);
        }
    }

    /** The same without a result. */
    final void step(String name, Runnable action) throws EndpointFailure {
        this.<@Nullable Void>call(name, () -> {
            action.run();
            return null;
        });
    }

    /** Looks the server's address up. */
    final AddressInformation lookUp(AddressInformation.Flag... flags) throws EndpointFailure {
        try {
            return AddressInformation.lookUp(
                    options.server(), options.port(), AddressInformation.Hints.of(PortSpace.TCP, flags));
        } catch (AddressLookupException e) {
            report.line("rdma_getaddrinfo: " + e.reason().text());
            report.explain(String.valueOf(e.getMessage()));
            throw new EndpointFailure(e.code());
        } catch (RdmaException e) {
            report.line("rdma_getaddrinfo: " + NO_RESOLVER_ERROR);
            report.explain(Explanation.of(e));
            throw new EndpointFailure(-1);
        }
    }

    /**
     * Posts the receive, connects, exchanges messages and disconnects.
     *
     * @param id with a queue pair, not yet connected
     * @param name C's name of the call that connects
     * @param connect connects
     */
    final void converse(CmId id, String name, Runnable connect) throws EndpointFailure {
        Set<CmMessages.Flag> flags = flags(id);
        CmMessages calls = new CmMessages(id);
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
                id.destroyQueuePair(); // before its memory goes
            }
        }
    }

    private Set<CmMessages.Flag> flags(CmId id) {
        if (Objects.requireNonNull(id.queuePair()).capabilities().maxInlineBytes() >= MESSAGE_BYTES) {
            return EnumSet.of(CmMessages.Flag.INLINE);
        }
        report.step("device doesn't support IBV_SEND_INLINE, using sge sends");
        return EnumSet.noneOf(CmMessages.Flag.class);
    }

    private MemoryRegion register(String what, CmMessages calls, Arena arena) throws EndpointFailure {
        return call("rdma_reg_msgs for " + what, () -> calls.register(arena.allocate(MESSAGE_BYTES)));
    }

    private static void disconnect(CmId id) {
        try {
            id.disconnect();
        } catch (RdmaException gone) {
            // As in C: the peer was faster.
        }
    }

    /** The two messages of a connection. */
    final class Messages {
        private final CmMessages calls;
        private final MemoryRegion outgoing;
        private final Set<CmMessages.Flag> flags;
        private final Duration patience = Patience.duration();

        private Messages(CmMessages calls, MemoryRegion outgoing, Set<CmMessages.Flag> flags) {
            this.calls = calls;
            this.outgoing = outgoing;
            this.flags = flags;
        }

        void send() throws EndpointFailure {
            step("rdma_post_send", () -> calls.postSend(0, outgoing, 0, MESSAGE_BYTES, flags));
        }

        /** Waits until the message has gone out; whether the peer has taken it. */
        boolean awaitSend() throws EndpointFailure {
            WorkCompletion done = new WorkCompletion();
            if (!call("rdma_get_send_comp", () -> calls.awaitSendCompletion(done, patience))) {
                throw silence("acknowledge the message");
            }
            return tell("message was not taken", done);
        }

        /** Waits for the peer's message. */
        void awaitReceive() throws EndpointFailure {
            WorkCompletion done = new WorkCompletion();
            if (!call("rdma_get_recv_comp", () -> calls.awaitReceiveCompletion(done, patience))) {
                throw silence("send its message");
            }
            if (!tell("peer's message did not come", done)) {
                throw new EndpointFailure(-Errno.EIO.number());
            }
            received++;
        }

        private EndpointFailure silence(String what) {
            report.explain("the peer did not " + what + " within " + patience.toSeconds()
                    + " s. It has gone, or is not the other one of rdma_client and rdma_server");
            return new EndpointFailure(-Errno.ETIMEDOUT.number());
        }

        private boolean tell(String what, WorkCompletion done) {
            if (!done.isSuccess()) {
                report.explain("the " + what + ": " + done.status() + " ("
                        + done.status().text() + ")");
            }
            return done.isSuccess();
        }
    }
}
