package io.rdma4j.tools.sim;

import io.rdma4j.tools.Getopt;
import java.io.PrintStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What the command line asks for.
 *
 * @param firstSeed seed of the first run
 * @param runs runs, each with the seed after the last
 * @param jobs runs at a time
 */
record SimOptions(long firstSeed, long runs, int jobs) {
    private static final List<Getopt.LongOption> LONG_OPTIONS = List.of(
            new Getopt.LongOption("seed", true, 's'),
            new Getopt.LongOption("runs", true, 'n'),
            new Getopt.LongOption("jobs", true, 'j'));

    /** Reads a command line; null if it makes no sense, which then has been said. */
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
                throw new IllegalArgumentException("'" + options.operands().getFirst() + "' is no option");
            }
        } catch (IllegalArgumentException e) {
            messages.println("rdma4j sim: " + e.getMessage());
            return null;
        }
        return new SimOptions(seed, runs, (int) Math.min(jobs, runs));
    }

    private static long number(String option, String text, long least, long most) {
        try {
            long value = Long.parseLong(text);
            if (value >= least && value <= most) {
                return value;
            }
        } catch (NumberFormatException e) {
            // Said below, as for a number out of range.
        }
        throw new IllegalArgumentException(
                "option --" + option + ": '" + text + "' is no whole number from " + least + " to " + most);
    }
}
