package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.CmId;
import io.rdma4j.tools.command.Explanation;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A run of a tool that makes one connection with the synchronous endpoint calls.
 *
 * <p>After some failures the C tool waits indefinitely for a message, or treats a failed receive as a message. A run
 * then ends with an explanation.
 */
abstract class EndpointRun {
    /** Bytes of each message. */
    static final int MESSAGE_BYTES = 16;

    /** The error text of C's tools if {@code rdma_getaddrinfo} fails without a resolver error. */
    private static final String NO_RESOLVER_ERROR = "Bad value for ai_flags";

    final MessageReport report;
    final EndpointOptions options;
    private final String family;
    private final String role;
    private final ToolEnvironment environment;
    private final ReceiveTimeout timeout = new ReceiveTimeout();
    private int received;

    /** A call of the connection manager or the verbs. */
    interface Call<T extends @Nullable Object> {
        T run();
    }

    /**
     * Creates a run.
     *
     * @param family the common prefix of the names of server and client
     * @param role server or client
     */
    EndpointRun(String family, String role, EndpointOptions options, ToolEnvironment environment) {
        this.family = family;
        this.role = role;
        this.options = options;
        this.environment = environment;
        report = new MessageReport(environment, family + role);
    }

    /** Runs the tool and returns the exit status. */
    final int run() {
        Runnable atInterrupt = report::silence;
        environment.onInterrupt(atInterrupt);
        long began = System.nanoTime();
        environment.report().parameter("role", role);
        if (options.server() != null) {
            environment.report().parameter("server", options.server());
        }
        environment.report().parameter("port", options.port());
        report.step("start");
        int status = 0;
        try {
            exchange();
        } catch (ToolFailure failure) {
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

    /** Performs the run between the first and the last line. */
    abstract void exchange() throws ToolFailure;

    // ---- calls

    /** Makes a call whose failure C's tool reports with {@code perror}. */
    final <T extends @Nullable Object> T call(String name, Call<T> call) throws ToolFailure {
        try {
            return call.run();
        } catch (RdmaException e) {
            report.failure(name, e);
            throw new ToolFailure(-1);
        }
    }

    /** Makes a call that has no result. */
    final void step(String name, Runnable action) throws ToolFailure {
        this.<@Nullable Void>call(name, () -> {
            action.run();
            return null;
        });
    }

    /** Resolves the server's address. */
    final AddressInformation lookUp(AddressInformation.Hints hints) throws ToolFailure {
        try {
            return AddressInformation.lookUp(options.server(), options.port(), hints);
        } catch (AddressLookupException e) {
            report.line("rdma_getaddrinfo: " + e.reason().text());
            report.explain(String.valueOf(e.getMessage()));
            throw new ToolFailure(-1); // rdma_getaddrinfo returns -1 for every failure of getaddrinfo
        } catch (RdmaException e) {
            report.line("rdma_getaddrinfo: " + NO_RESOLVER_ERROR);
            report.explain(Explanation.of(e));
            throw new ToolFailure(-1);
        }
    }

    /** Disconnects, or confirms the peer's disconnection. */
    static void disconnect(CmId id) {
        try {
            id.disconnect();
        } catch (RdmaException ignored) {
            // As in C: the peer has already disconnected.
        }
    }

    // ---- messages

    /** Returns the queue pair of an identifier that has one. */
    static QueuePair queuePair(CmId id) {
        return Objects.requireNonNull(id.queuePair());
    }

    /**
     * Registers memory for a message.
     *
     * @param name the name of the call in C's error line
     */
    final MemoryRegion register(String name, CmId id, Arena arena) throws ToolFailure {
        return call(name, () -> id.protectionDomain().register(arena.allocate(MESSAGE_BYTES), AccessFlag.LOCAL_WRITE));
    }

    /** Posts a receive to the identifier's shared receive queue if it has one, otherwise to its queue pair. */
    static void postReceive(CmId id, MemoryRegion memory) {
        ReceiveWorkRequest request = new ReceiveWorkRequest().into(memory);
        SharedReceiveQueue shared = id.sharedReceiveQueue();
        if (shared == null) {
            queuePair(id).postReceive(request);
        } else {
            shared.postReceive(request);
        }
    }

    /**
     * Waits until a message has been sent, and returns whether the peer received it.
     *
     * @param name the name of the wait in C's error line
     */
    final boolean awaitSend(String name, CmId id) throws ToolFailure {
        WorkCompletion done = await(name, id.sendCompletions(), "acknowledge the message");
        return reportUnlessSuccess("message was not received", done);
    }

    /** Waits for the peer's message. */
    final void awaitReceive(CmId id) throws ToolFailure {
        WorkCompletion done = await("rdma_get_recv_comp", id.receiveCompletions(), "send its message");
        if (!reportUnlessSuccess("peer's message was not received", done)) {
            throw new ToolFailure(-Errno.EIO.number());
        }
        received++;
    }

    /**
     * Waits for a completion.
     *
     * @param name the name of the wait in C's error line
     * @param missed the action that the peer omitted, for the explanation of a timeout
     */
    private WorkCompletion await(String name, @Nullable CompletionQueue queue, String missed) throws ToolFailure {
        WorkCompletion[] one = WorkCompletion.array(1);
        if (call(name, () -> Objects.requireNonNull(queue).await(one, timeout.duration())) == 0) {
            report.explain("the peer did not " + missed + " within " + timeout.seconds()
                    + " s. It has exited, or is not the counterpart of " + family + "client and " + family + "server");
            throw new ToolFailure(-Errno.ETIMEDOUT.number());
        }
        return one[0];
    }

    private boolean reportUnlessSuccess(String what, WorkCompletion done) {
        if (!done.isSuccess()) {
            report.explain(
                    "the " + what + ": " + done.status() + " (" + done.status().text() + ")");
        }
        return done.isSuccess();
    }
}
