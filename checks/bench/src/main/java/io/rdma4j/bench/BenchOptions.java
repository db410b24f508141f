package io.rdma4j.bench;

import io.rdma4j.bench.plan.Pace;
import java.nio.file.Path;
import java.util.Objects;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** The options of {@code checks/bench/run}, which picocli sets. Not thread safe. */
final class BenchOptions {
    /** The rows to measure; case is ignored. */
    static final class RowPattern implements ITypeConverter<Pattern> {
        @Override
        public Pattern convert(String value) {
            try {
                return Pattern.compile(value, Pattern.CASE_INSENSITIVE);
            } catch (PatternSyntaxException e) {
                throw new TypeConversionException(
                        "\"" + value + "\" is not a regular expression: " + e.getDescription());
            }
        }
    }

    /** A number within bounds. */
    abstract static class BoundedNumber implements ITypeConverter<Integer> {
        private final int min;
        private final int max;

        BoundedNumber(int min, int max) {
            this.min = min;
            this.max = max;
        }

        @Override
        public Integer convert(String value) {
            try {
                int number = Integer.parseInt(value);
                if (number >= min && number <= max) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // reported below
            }
            throw new TypeConversionException("\"" + value + "\" is not a number from " + min + " to " + max);
        }
    }

    /** The number of repetitions. */
    static final class Repetitions extends BoundedNumber {
        Repetitions() {
            super(1, 100);
        }
    }

    /** The maximum time in seconds to wait for a quiet machine. */
    static final class Patience extends BoundedNumber {
        Patience() {
            super(0, 600);
        }
    }

    @Spec(Spec.Target.MIXEE)
    private @Nullable CommandSpec command;

    @Option(names = "--quick", description = "only the most important rows, 3 repetitions, under 2 minutes")
    private boolean quick;

    @Option(names = "--full", description = "every size from 1 B to 8 MiB, 1 to 64 queue pairs; up to an hour")
    private boolean full;

    @Option(
            names = "--only",
            paramLabel = "REGEX",
            converter = RowPattern.class,
            description = "only rows with REGEX in their name or title, and their floors")
    private @Nullable Pattern only;

    @Option(
            names = "--repetitions",
            paramLabel = "N",
            converter = Repetitions.class,
            description = "maximum number of repetitions within the time limit")
    private @Nullable Integer repetitions;

    @Option(names = "--json", paramLabel = "FILE", description = "writes all figures of all repetitions")
    private @Nullable Path json;

    @Option(
            names = "--html",
            paramLabel = "FILE",
            description = "writes the table and plots as one self-contained page")
    private @Nullable Path html;

    @Option(
            names = "--patience",
            paramLabel = "S",
            converter = Patience.class,
            description = "waits up to S seconds before each measurement until the machine is quiet, and repeats a"
                    + " measurement, up to twice, if other processes disturbed it or the machine changed during it")
    private int patienceSeconds;

    @Option(names = "--list", description = "prints what would be measured, and measures nothing")
    private boolean list;

    /**
     * Returns how long to measure.
     *
     * @throws ParameterException if both {@code --quick} and {@code --full} are given
     */
    Pace pace() {
        if (quick && full) {
            throw new ParameterException(
                    Objects.requireNonNull(command).commandLine(), "--quick and --full exclude each other");
        }
        Pace pace = quick ? Pace.QUICK : full ? Pace.FULL : Pace.DEFAULT;
        return repetitions == null ? pace : pace.withRepetitions(repetitions);
    }

    /** Returns the pattern of the rows to measure, or null for all rows. */
    @Nullable
    Pattern only() {
        return only;
    }

    /** Returns the JSON file to write, or null. */
    @Nullable
    Path json() {
        return json;
    }

    /** Returns the HTML file to write, or null. */
    @Nullable
    Path html() {
        return html;
    }

    /** Returns the maximum time in seconds to wait for a quiet machine before each measurement. */
    int patienceSeconds() {
        return patienceSeconds;
    }

    /** Returns true to only print what would be measured. */
    boolean list() {
        return list;
    }
}
