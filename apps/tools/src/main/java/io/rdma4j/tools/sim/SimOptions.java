package io.rdma4j.tools.sim;

import io.rdma4j.tools.command.OptionTable;
import io.rdma4j.tools.command.ToolFailure;
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
    static final OptionTable<Parser> TABLE = OptionTable.<Parser>aligned(14)
            .option(
                    "-s, --seed N",
                    "seed of the first run (0)",
                    (parser, value) -> parser.seed = number("seed", value, Long.MIN_VALUE, Long.MAX_VALUE))
            .option(
                    "-n, --runs M",
                    "runs, with the seeds N, N+1, ... (1)",
                    (parser, value) -> parser.runs = number("runs", value, 1, Long.MAX_VALUE))
            .option(
                    "-j, --jobs J",
                    "concurrent runs (one for each processor)",
                    (parser, value) -> parser.jobs = number("jobs", value, 1, 1024))
            .note("--trace", "print a line on stderr for every packet and every other event; for a single run only")
            .note("--json", "one JSON document of parameters and results on stdout");

    /** Parses a command line. Returns null after printing an error message if it is invalid. */
    static @Nullable SimOptions parse(List<String> arguments, PrintStream messages) {
        Parser parser = new Parser();
        try {
            List<String> operands = TABLE.parse("rdma4j sim", arguments, parser, messages, _ -> new ToolFailure(2));
            if (!operands.isEmpty()) {
                throw new IllegalArgumentException("'" + operands.getFirst() + "' is not an option");
            }
        } catch (ToolFailure e) {
            return null;
        } catch (IllegalArgumentException e) {
            messages.println("rdma4j sim: " + e.getMessage());
            return null;
        }
        return new SimOptions(parser.seed, parser.runs, (int) Math.min(parser.jobs, parser.runs));
    }

    static final class Parser {
        private long seed;
        private long runs = 1;
        private long jobs = Runtime.getRuntime().availableProcessors();
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
