package io.rdma4j.tools.messages;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.AddressLookupException;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.CmMessages;
import io.rdma4j.tools.Explanation;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * A run of a tool that makes one connection in synchronous calls, as endpoints.
 *
 * <p>Where the C tool waits for ever for a message that nobody sends, or takes one that failed for one that came, a run
 * ends with a sentence.
 */
abstract class EndpointRun {
    /** Bytes of each message. */
    static final int MESSAGE_BYTES = 16;

    /** What {@code rdma_getaddrinfo} returns when no resolver has failed, and the text that C's tools find for it. */
    private static final String NO_RESOLVER_ERROR = "Bad value for ai_flags";

    final MessageReport report;
    final EndpointOptions options;
    private final String family;
    private final String role;
    private final ToolEnvironment environment;
    private final Duration patience = Patience.duration();
    private int received;

    /** A call of the connection manager or the verbs. */
    interface Call<T extends @Nullable Object> {
        T run();
    }

    /**
     * Prepares a run.
     *
     * @param family what the names of server and client begin with
     * @param role server or client
     */
    EndpointRun(String family, String role, EndpointOptions options, ToolEnvironment environment) {
        this.family = family;
        this.role = role;
        this.options = options;
        this.environment = environment;
        report = new MessageReport(environment, family + role);
    }

    /** Runs it all; the exit status. */
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
    final AddressInformation lookUp(AddressInformation.Hints hints) throws EndpointFailure {
        try {
            return AddressInformation.lookUp(options.server(), options.port(), hints);
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

    /** Disconnects, or answers the peer's disconnection. */
    static void disconnect(CmId id) {
        try {
            id.disconnect();
        } catch (RdmaException gone) {
            // As in C: the peer was faster.
        }
    }

    // ---- completions

    /**
     * Waits until a message has gone out; whether the peer has taken it.
     *
     * @param name what C's line calls the waiting
     */
    final boolean awaitSend(String name, CmMessages calls) throws EndpointFailure {
        WorkCompletion done = new WorkCompletion();
        if (!call(name, () -> calls.awaitSendCompletion(done, patience))) {
            throw silence("acknowledge the message");
        }
        return tell("message was not taken", done);
    }

    /** Waits for the peer's message. */
    final void awaitReceive(CmMessages calls) throws EndpointFailure {
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
                + " s. It has gone, or is not the other one of " + family + "client and " + family + "server");
        return new EndpointFailure(-Errno.ETIMEDOUT.number());
    }

    private boolean tell(String what, WorkCompletion done) {
        if (!done.isSuccess()) {
            report.explain(
                    "the " + what + ": " + done.status() + " (" + done.status().text() + ")");
        }
        return done.isSuccess();
    }
}
