package io.rdma4j.tools.top;

import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.ToolFailure;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of the command line.
 *
 * @param delay the time between two refreshes
 * @param count the number of refreshes, or 0 if none was given
 */
record TopOptions(Duration delay, long count) {
    static final OptionTable<Parser> TABLE = OptionTable.<Parser>aligned(21)
            .option(
                    "-d, --delay SECONDS",
                    "time between two refreshes (1)",
                    (parser, value) -> parser.delay = delay(value))
            .option(
                    "-n, --count COUNT",
                    "end after COUNT refreshes (on a terminal: run until interrupted; otherwise 1)",
                    (parser, value) -> parser.count = count(value))
            .note("--json", "one JSON document with all refreshes (1 if -n is missing) on stdout");

    private static final double MIN_SECONDS = 0.1;
    private static final double MAX_SECONDS = 3600;
    private static final double MILLIS = 1000;

    /** Parses a command line. Returns null after printing an error message if it is invalid. */
    static @Nullable TopOptions parse(List<String> arguments, PrintStream messages) {
        Parser parser = new Parser();
        try {
            List<String> operands = TABLE.parse("rdma4j top", arguments, parser, messages, _ -> new ToolFailure(2));
            if (!operands.isEmpty()) {
                throw new IllegalArgumentException("'" + operands.getFirst() + "' is not an option");
            }
        } catch (ToolFailure e) {
            return null;
        } catch (IllegalArgumentException e) {
            messages.println("rdma4j top: " + e.getMessage());
            return null;
        }
        return new TopOptions(parser.delay, parser.count);
    }

    static final class Parser {
        private Duration delay = Duration.ofSeconds(1);
        private long count;
    }

    private static Duration delay(String text) {
        try {
            double seconds = Double.parseDouble(text);
            if (seconds >= MIN_SECONDS && seconds <= MAX_SECONDS) {
                return Duration.ofMillis(Math.round(seconds * MILLIS));
            }
        } catch (NumberFormatException e) {
            // Reported below, as for a number out of range.
        }
        throw new IllegalArgumentException(
                "option --delay: '" + text + "' is not a number of seconds from 0.1 to 3600");
    }

    private static long count(String text) {
        try {
            long value = Long.parseLong(text);
            if (value > 0) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Reported below, as for a number out of range.
        }
        throw new IllegalArgumentException("option --count: '" + text + "' is not a positive integer");
    }
}
