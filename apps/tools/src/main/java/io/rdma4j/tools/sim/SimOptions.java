package io.rdma4j.tools.sim;

import io.rdma4j.tools.command.Getopt;
import java.io.PrintStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The options of the command line.
 *
 * @param firstSeed the seed of the first run
 * @param runs the number of runs, with consecutive seeds
 * @param jobs the number of concurrent runs
 */
record SimOptions(long firstSeed, long runs, int jobs) {
    private static final List<Getopt.LongOption> LONG_OPTIONS = List.of(
            new Getopt.LongOption("seed", true, 's'),
            new Getopt.LongOption("runs", true, 'n'),
            new Getopt.LongOption("jobs", true, 'j'));

    /** Parses a command line. Returns null after printing an error message if it is invalid. */
    static @Nullable SimOptions parse(List<String> arguments, PrintStream messages) {
        Getopt options = new Getopt("rdma4j sim", "s:n:j:", LONG_OPTIONS, arguments, messages);
        long seed = 0;
        long runs = 1;
        long jobs = Runtime.getRuntime().availableProcessors();
        try {
            for (int letter = options.next(); letter != Getopt.END; letter = options.next()) {
                switch (letter) {
                    case 's' -> seed = number("seed", options.requiredArgument(), Long.MIN_VALUE, Long.MAX_VALUE);
                    case 'n' -> runs = number("runs", options.requiredArgument(), 1, Long.MAX_VALUE);
                    case 'j' -> jobs = number("jobs", options.requiredArgument(), 1, 1024);
                    default -> {
                        return null;
                    }
                }
            }
            if (!options.operands().isEmpty()) {
                throw new IllegalArgumentException("'" + options.operands().getFirst() + "' is not an option");
            }
        } catch (IllegalArgumentException e) {
            messages.println("rdma4j sim: " + e.getMessage());
            return null;
        }
        return new SimOptions(seed, runs, (int) Math.min(jobs, runs));
    }

    private static long number(String option, String text, long min, long max) {
        try {
            long value = Long.parseLong(text);
            if (value >= min && value <= max) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Reported below, as for a number out of range.
        }
        throw new IllegalArgumentException(
                "option --" + option + ": '" + text + "' is not an integer from " + min + " to " + max);
    }
}
