package io.rdma4j.bench;

import io.rdma4j.bench.plan.Pace;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/**
 * The options of the command line.
 *
 * @param pace how long to measure
 * @param only pattern of the rows to measure, or null for all rows
 * @param json JSON file to write, or null
 * @param html HTML file to write, or null
 * @param patienceSeconds maximum time to wait for a quiet machine before each measurement
 * @param list true to only print what would be measured
 */
record BenchOptions(
        Pace pace,
        @Nullable Pattern only,
        @Nullable Path json,
        @Nullable Path html,
        int patienceSeconds,
        boolean list) {
    /** Thrown for an invalid command line; the message names the error. */
    static final class UsageException extends Exception {
        private static final long serialVersionUID = 1;

        UsageException(String message) {
            super(message);
        }
    }

    static BenchOptions parse(List<String> arguments) throws UsageException {
        Pace pace = Pace.DEFAULT;
        int repetitions = 0;
        Pattern only = null;
        Path json = null;
        Path html = null;
        int patience = 0;
        boolean list = false;
        Iterator<String> words = arguments.iterator();
        while (words.hasNext()) {
            String word = words.next();
            switch (word) {
                case "--quick" -> pace = Pace.QUICK;
                case "--full" -> pace = Pace.FULL;
                case "--list" -> list = true;
                case "--only" -> only = pattern(value(word, words));
                case "--repetitions" -> repetitions = number(word, value(word, words), 1, 100);
                case "--html" -> html = Path.of(value(word, words));
                case "--patience" -> patience = number(word, value(word, words), 0, 600);
                case "--json" -> json = Path.of(value(word, words));
                default -> throw new UsageException("unknown option " + word + "; --help lists all");
            }
        }
        return new BenchOptions(
                repetitions == 0 ? pace : pace.withRepetitions(repetitions), only, json, html, patience, list);
    }

    private static String value(String option, Iterator<String> words) throws UsageException {
        if (!words.hasNext()) {
            throw new UsageException("option " + option + " needs a value");
        }
        return words.next();
    }

    private static Pattern pattern(String value) throws UsageException {
        try {
            return Pattern.compile(value, Pattern.CASE_INSENSITIVE);
        } catch (PatternSyntaxException e) {
            throw new UsageException("option --only: " + e.getMessage());
        }
    }

    private static int number(String option, String value, int min, int max) throws UsageException {
        try {
            int number = Integer.parseInt(value);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // reported below
        }
        throw new UsageException("option " + option + ": \"" + value + "\" is not a number from " + min + " to " + max);
    }
}
