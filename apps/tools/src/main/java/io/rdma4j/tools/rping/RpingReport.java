package io.rdma4j.tools.rping;

import io.rdma4j.tools.command.Explanation;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.verbs.RdmaException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Prints the lines of C's rping and, after a line that only names an error, an explanation. Thread safe. */
final class RpingReport {
    private final ToolEnvironment environment;
    private final boolean debug;
    private volatile boolean silent;

    RpingReport(ToolEnvironment environment, boolean debug) {
        this.environment = environment;
        this.debug = debug;
    }

    /** Suppresses further output, because a signal ends the process and the C tool would have exited. */
    void silence() {
        silent = true;
    }

    /** Prints a step with {@code -d}. */
    @SuppressWarnings("AnnotateFormatMethod") // the annotation belongs to a library
    void debug(String format, @Nullable Object... arguments) {
        if (debug && !silent) {
            environment.out().println(String.format(Locale.ROOT, format, arguments));
        }
    }

    /** Prints a line of the C tool on standard error. */
    void error(String line) {
        if (!silent) {
            environment.err().println(line);
        }
    }

    /** Prints an explanation that the C tool does not have. */
    void explain(String text) {
        if (!silent && !text.isBlank()) {
            environment.err().println("rping: " + text);
        }
    }

    /** Prints the line of {@code perror} and the explanation. */
    void systemError(String what, RdmaException cause) {
        error(what + ": " + cause.errno().text());
        explain(cause);
    }

    /** Prints the explanation of an exception and, with {@code -d}, its stack trace. */
    void explain(RdmaException cause) {
        explain(Explanation.of(cause));
        stackTrace(cause);
    }

    /** Prints the stack trace of an exception with {@code -d}. */
    void stackTrace(Throwable cause) {
        if (debug && !silent) {
            cause.printStackTrace(environment.err());
        }
    }

    /** Formats an object as {@code %p} would: with a number that distinguishes objects. */
    static String pointer(@Nullable Object object) {
        return object == null ? "(nil)" : String.format(Locale.ROOT, "0x%08x", System.identityHashCode(object));
    }
}
