package io.rdma4j.link.decorator;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The faults that a {@link FaultLink} injects into the frames of a link, independently for each direction.
 *
 * @param loss fraction of frames that are dropped, 0 to 1
 * @param duplication fraction of frames that are delivered twice, 0 to 1
 * @param reordering fraction of frames that are delivered after 1 to 8 later ones, 0 to 1
 * @param corruption fraction of frames in which one bit is flipped, 0 to 1
 * @param delayNanos delay of each frame, in nanoseconds
 * @param seed seed of the random numbers; the same seed and frames give the same faults
 */
public record FaultSpec(
        double loss, double duplication, double reordering, double corruption, long delayNanos, long seed) {
    /** The syntax that {@link #parse} accepts, for usage messages. */
    public static final String SYNTAX = "loss=P,dup=P,reorder=P,corrupt=P,delay=T,seed=N"
            + " in any order and number, where P is a percentage (1%) or a fraction (0.01),"
            + " T a time with its unit (5ms; ns, us, ms or s), N a whole number";

    private static final long DEFAULT_SEED = 1;

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a fraction is not from 0 to 1, or the delay is negative
     */
    public FaultSpec {
        checkProbability("loss", loss);
        checkProbability("dup", duplication);
        checkProbability("reorder", reordering);
        checkProbability("corrupt", corruption);
        if (delayNanos < 0) {
            throw new IllegalArgumentException("delay: " + delayNanos + " ns is negative");
        }
    }

    private static void checkProbability(String name, double value) {
        if (!(value >= 0 && value <= 1)) {
            throw new IllegalArgumentException(name + ": " + value + " is not from 0 to 1");
        }
    }

    /**
     * Parses a specification such as {@code loss=1%,delay=5ms,seed=7}. Faults that it does not name are off. The
     * default seed is 1.
     *
     * @throws IllegalArgumentException if the text does not match {@link #SYNTAX}; the message names the error and the
     *     syntax
     */
    public static FaultSpec parse(String text) {
        double[] probabilities = new double[4];
        long delayNanos = 0;
        long seed = DEFAULT_SEED;
        List<String> seen = new ArrayList<>();
        for (String part : text.split(",", -1)) {
            int equals = part.indexOf('=');
            String name = equals < 0 ? part : part.substring(0, equals);
            String value = equals < 0 ? "" : part.substring(equals + 1);
            if (value.isEmpty()) {
                throw invalid(text, "'" + part + "' is not a fault and its value");
            }
            if (seen.contains(name)) {
                throw invalid(text, "'" + name + "' is given twice");
            }
            seen.add(name);
            switch (name) {
                case "loss" -> probabilities[0] = probability(text, name, value);
                case "dup" -> probabilities[1] = probability(text, name, value);
                case "reorder" -> probabilities[2] = probability(text, name, value);
                case "corrupt" -> probabilities[3] = probability(text, name, value);
                case "delay" -> delayNanos = duration(text, value);
                case "seed" -> seed = seed(text, value);
                default -> throw invalid(text, "there is no fault '" + name + "'");
            }
        }
        return new FaultSpec(probabilities[0], probabilities[1], probabilities[2], probabilities[3], delayNanos, seed);
    }

    private static double probability(String text, String name, String value) {
        boolean percent = value.endsWith("%");
        double number;
        try {
            number = new BigDecimal(percent ? value.substring(0, value.length() - 1) : value).doubleValue();
        } catch (NumberFormatException e) {
            throw invalid(text, "'" + value + "' is not a percentage or fraction");
        }
        double probability = percent ? number / 100 : number;
        if (!(probability >= 0 && probability <= 1)) {
            throw invalid(text, name + "=" + value + " is not from 0 to 100% (a fraction: from 0 to 1)");
        }
        return probability;
    }

    private static long duration(String text, String value) {
        int digits = 0;
        while (digits < value.length() && (Character.isDigit(value.charAt(digits)) || value.charAt(digits) == '.')) {
            digits++;
        }
        long unit = switch (value.substring(digits).toLowerCase(Locale.ROOT)) {
            case "ns" -> 1;
            case "us", "µs" -> 1_000;
            case "ms" -> 1_000_000;
            case "s" -> 1_000_000_000;
            default -> throw invalid(text, "'" + value + "' is not a time with its unit");
        };
        try {
            BigDecimal nanos = new BigDecimal(value.substring(0, digits)).multiply(BigDecimal.valueOf(unit));
            if (nanos.compareTo(BigDecimal.valueOf(3_600_000_000_000L)) > 0) {
                throw invalid(text, "delay=" + value + " is more than an hour");
            }
            return nanos.longValue();
        } catch (NumberFormatException e) {
            throw invalid(text, "'" + value + "' is not a time with its unit");
        }
    }

    private static long seed(String text, String value) {
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw invalid(text, "'" + value + "' is not a whole number");
        }
    }

    private static IllegalArgumentException invalid(String text, String what) {
        return new IllegalArgumentException("faults '" + text + "': " + what + "; use " + SYNTAX);
    }
}
