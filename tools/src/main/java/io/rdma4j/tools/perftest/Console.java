package io.rdma4j.tools.perftest;

import io.rdma4j.tools.Explanation;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.tools.messages.Patience;
import io.rdma4j.verbs.RdmaException;
import org.jspecify.annotations.Nullable;

/** What a run prints: perftest's lines, and behind one that only names an error one that explains it. */
final class Console {
    private final String tool;
    private final ToolEnvironment environment;
    private volatile boolean silent;

    Console(String tool, ToolEnvironment environment) {
        this.tool = tool;
        this.environment = environment;
    }

    ToolEnvironment environment() {
        return environment;
    }

    /** Prints nothing any more: the process was asked to end. */
    void silence() {
        silent = true;
    }

    void line(String text) {
        if (!silent) {
            environment.out().println(text);
        }
    }

    void error(String text) {
        if (!silent) {
            environment.err().println(text);
        }
    }

    /** What perftest does not say. */
    void explain(@Nullable String text) {
        if (text != null && !text.isBlank()) {
            error(tool + ": " + text);
        }
    }

    /** Prints perftest's line and an explanation; exit status 1. */
    PerftestFailure failure(String line, @Nullable String explanation) {
        return failure(1, line, explanation);
    }

    /** Prints perftest's line and an explanation. */
    PerftestFailure failure(int status, String line, @Nullable String explanation) {
        error(line);
        explain(explanation);
        return new PerftestFailure(status);
    }

    /** Prints perftest's line, which says enough; exit status 1. */
    PerftestFailure failure(String line) {
        error(line);
        return new PerftestFailure(1);
    }

    /** The same for an error of the device. */
    PerftestFailure failure(String line, RdmaException cause) {
        return failure(line, Explanation.of(cause));
    }

    /** The peer says nothing where it should tell its parameters. */
    PerftestFailure silence(Patience patience) {
        return failure(
                " Unable to read from socket/rdma_cm",
                "nothing came from the peer for " + patience.seconds()
                        + " s at the exchange of parameters: it hangs, or was started with other options; both sides"
                        + " need the same -q, -R, -z and --dont_xchg_versions");
    }

    /** A call of the verbs or of the connection manager. */
    interface Call<T extends @Nullable Object> {
        T run();
    }

    /** Does a call; {@code line} is perftest's if it fails. */
    <T extends @Nullable Object> T call(String line, Call<T> call) throws PerftestFailure {
        try {
            return call.run();
        } catch (RdmaException e) {
            throw failure(line, e);
        }
    }

    /** The same without a result. */
    void step(String line, Runnable call) throws PerftestFailure {
        this.<@Nullable Void>call(line, () -> {
            call.run();
            return null;
        });
    }
}
