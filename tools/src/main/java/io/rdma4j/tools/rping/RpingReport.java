package io.rdma4j.tools.rping;

import io.rdma4j.tools.Explanation;
import io.rdma4j.tools.ToolEnvironment;
import io.rdma4j.verbs.RdmaException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What rping prints: the lines of the C tool, and after a line that only names an error one more that explains it. Thread
 * safe.
 */
final class RpingReport {
    private final ToolEnvironment environment;
    private final boolean debug;
    private volatile boolean silent;

    RpingReport(ToolEnvironment environment, boolean debug) {
        this.environment = environment;
        this.debug = debug;
    }

    /** Prints nothing any more: the process was asked to end, and the C tool would be gone. */
    void silence() {
        silent = true;
    }

    /** A step, printed with {@code -d}. */
    @SuppressWarnings("AnnotateFormatMethod") // the annotation is that of a library
    void debug(String format, @Nullable Object... arguments) {
        if (debug && !silent) {
            environment.out().println(String.format(Locale.ROOT, format, arguments));
        }
    }

    /** A line of the C tool on standard error. */
    void error(String line) {
        if (!silent) {
            environment.err().println(line);
        }
    }

    /** A line that the C tool does not print: what happened, in words. */
    void explain(String text) {
        if (!silent && !text.isBlank()) {
            environment.err().println("rping: " + text);
        }
    }

    /** The line of {@code perror}, and the explanation. */
    void systemError(String what, RdmaException cause) {
        error(what + ": " + cause.errno().text());
        explain(cause);
    }

    /** What an exception says beyond the name of its error; with {@code -d} where it was thrown, too. */
    void explain(RdmaException cause) {
        explain(Explanation.of(cause));
        stackTrace(cause);
    }

    /** Where an exception was thrown, with {@code -d}. */
    void stackTrace(Throwable cause) {
        if (debug && !silent) {
            cause.printStackTrace(environment.err());
        }
    }

    /** An object as {@code %p} would print it: some number that tells objects apart. */
    static String pointer(@Nullable Object object) {
        return object == null ? "(nil)" : String.format(Locale.ROOT, "0x%08x", System.identityHashCode(object));
    }
}
