package io.rdma4j.bench.worker;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A report of a worker to the coordinator: a line of a kind in lower case, a space, and a text.
 *
 * <p>The lines need no library, because loading one would be part of the first second of the process.
 *
 * @param kind the meaning of the text
 * @param text the text, without line breaks
 */
public record WorkerReport(Kind kind, String text) {
    /** The kinds of reports. */
    public enum Kind {
        /** The port of the passive side. */
        PORT,
        /** The figures of the active side, as {@link Figures#toString} writes them. */
        FIGURES,
        /** The reason why a side cannot measure on this machine. */
        SKIP,
        /** The reason of a failure. */
        ERROR
    }

    /** Creates a report; line breaks of the text become spaces. */
    public WorkerReport {
        text = text.replace('\n', ' ').replace('\r', ' ');
    }

    /** Returns the report in a line, or null if the line is not a report, such as output of a peer's native library. */
    public static @Nullable WorkerReport parse(String line) {
        for (Kind kind : Kind.values()) {
            String start = word(kind) + " ";
            if (line.startsWith(start)) {
                return new WorkerReport(kind, line.substring(start.length()));
            }
        }
        return null;
    }

    private static String word(Kind kind) {
        return kind.name().toLowerCase(Locale.ROOT);
    }

    /** Returns the line. */
    @Override
    public String toString() {
        return word(kind) + " " + text;
    }
}
