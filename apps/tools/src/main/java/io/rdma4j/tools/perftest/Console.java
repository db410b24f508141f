package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.Explanation;
import io.rdma4j.tools.command.ReceiveTimeout;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** The output of a run: perftest's lines, and an explanation after each line that only names an error. */
final class Console {
    private final String tool;
    private final ToolEnvironment environment;
    private volatile boolean muted;

    Console(String tool, ToolEnvironment environment) {
        this.tool = tool;
        this.environment = environment;
    }

    ToolEnvironment environment() {
        return environment;
    }

    /** Suppresses all further output, after a signal to exit. */
    void mute() {
        muted = true;
    }

    void line(String text) {
        if (!muted) {
            environment.out().println(text);
        }
    }

    void error(String text) {
        if (!muted) {
            environment.err().println(text);
        }
    }

    /** Prints an explanation that perftest does not have. */
    void explain(@Nullable String text) {
        if (text != null && !text.isBlank()) {
            error(tool + ": " + text);
        }
    }

    /** Prints perftest's line and an explanation. The exit status is 1. */
    ToolFailure failure(String line, @Nullable String explanation) {
        return failure(1, line, explanation);
    }

    /** Prints perftest's line and an explanation. */
    ToolFailure failure(int status, String line, @Nullable String explanation) {
        error(line);
        explain(explanation);
        return new ToolFailure(status);
    }

    /** Prints perftest's line, which needs no explanation. The exit status is 1. */
    ToolFailure failure(String line) {
        error(line);
        return new ToolFailure(1);
    }

    /** Prints perftest's line and the explanation of an RDMA error. The exit status is 1. */
    ToolFailure failure(String line, RdmaException cause) {
        return failure(line, Explanation.of(cause));
    }

    /** Reports that the peer has not sent its parameters in time. */
    ToolFailure noParameters(ReceiveTimeout timeout) {
        return failure(
                " Unable to read from socket/rdma_cm",
                "nothing was received from the peer for " + timeout.seconds()
                        + " s in the parameter exchange: it hangs, or was started with other options; both sides"
                        + " need the same -q, -R, -z and --dont_xchg_versions");
    }

    /** A call of the verbs or of the connection manager. */
    interface Call<T extends @Nullable Object> {
        T run();
    }

    /** Calls {@code call}. If it fails, prints {@code line}, which is perftest's, and the explanation. */
    <T extends @Nullable Object> T call(String line, Call<T> call) throws ToolFailure {
        try {
            return call.run();
        } catch (RdmaException e) {
            throw failure(line, e);
        }
    }

    /** Calls {@code call}, which has no result. Otherwise like {@link #call}. */
    void step(String line, Runnable call) throws ToolFailure {
        this.<@Nullable Void>call(line, () -> {
            call.run();
            return null;
        });
    }
}
