package io.rdma4j.tools.top;

import io.rdma4j.tools.command.Getopt;
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
    private static final List<Getopt.LongOption> LONG_OPTIONS =
            List.of(new Getopt.LongOption("delay", true, 'd'), new Getopt.LongOption("count", true, 'n'));

    private static final double MIN_SECONDS = 0.1;
    private static final double MAX_SECONDS = 3600;
    private static final double MILLIS = 1000;

    /** Parses a command line. Returns null after printing an error message if it is invalid. */
    static @Nullable TopOptions parse(List<String> arguments, PrintStream messages) {
        Getopt options = new Getopt("rdma4j top", "d:n:", LONG_OPTIONS, arguments, messages);
        Duration delay = Duration.ofSeconds(1);
        long count = 0;
        try {
            for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
                switch (letter) {
                    case 'd' -> delay = delay(options.requiredArgument());
                    case 'n' -> count = count(options.requiredArgument());
                    default -> {
                        return null;
                    }
                }
            }
            if (!options.operands().isEmpty()) {
                throw new IllegalArgumentException("'" + options.operands().getFirst() + "' is not an option");
            }
        } catch (IllegalArgumentException e) {
            messages.println("rdma4j top: " + e.getMessage());
            return null;
        }
        return new TopOptions(delay, count);
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
