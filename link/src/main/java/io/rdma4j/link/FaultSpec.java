package io.rdma4j.link;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Faults that a {@link FaultLink} puts on the frames of a link, each direction for itself.
 *
 * @param loss part of the frames that vanish, 0 to 1
 * @param duplication part of the frames that arrive twice, 0 to 1
 * @param reordering part of the frames that arrive behind 1 to 8 later ones, 0 to 1
 * @param corruption part of the frames that arrive with one bit changed, 0 to 1
 * @param delayNanos how long each frame takes, in nanoseconds
 * @param seed start of the random numbers; the same seed and frames give the same faults
 */
public record FaultSpec(
        double loss, double duplication, double reordering, double corruption, long delayNanos, long seed) {
    /** How {@link #parse} wants its text, for usage messages. */
    public static final String SYNTAX = "loss=P,dup=P,reorder=P,corrupt=P,delay=T,seed=N"
            + " in any order and number, where P is a percentage (1%) or a fraction (0.01),"
            + " T a time with its unit (5ms; ns, us, ms or s), N a whole number";

    private static final long DEFAULT_SEED = 1;

    /** Checks the ranges. */
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
     * Reads a specification such as {@code loss=1%,delay=5ms,seed=7}; what it does not name is off, the seed is 1.
     *
     * @throws IllegalArgumentException if the text is not of the form {@link #SYNTAX}; the message says what is wrong and
     *     what the form is
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
                throw wrong(text, "'" + part + "' is not a fault and its value");
            }
            if (seen.contains(name)) {
                throw wrong(text, "'" + name + "' is given twice");
            }
            seen.add(name);
            switch (name) {
                case "loss" -> probabilities[0] = probability(text, name, value);
                case "dup" -> probabilities[1] = probability(text, name, value);
                case "reorder" -> probabilities[2] = probability(text, name, value);
                case "corrupt" -> probabilities[3] = probability(text, name, value);
                case "delay" -> delayNanos = duration(text, value);
                case "seed" -> seed = seed(text, value);
                default -> throw wrong(text, "there is no fault '" + name + "'");
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
            throw wrong(text, "'" + value + "' is not a percentage or fraction");
        }
        double probability = percent ? number / 100 : number;
        if (!(probability >= 0 && probability <= 1)) {
            throw wrong(text, name + "=" + value + " is not from 0 to 100% (a fraction: from 0 to 1)");
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
            default -> throw wrong(text, "'" + value + "' is not a time with its unit");
        };
        try {
            BigDecimal nanos = new BigDecimal(value.substring(0, digits)).multiply(BigDecimal.valueOf(unit));
            if (nanos.compareTo(BigDecimal.valueOf(3_600_000_000_000L)) > 0) {
                throw wrong(text, "delay=" + value + " is more than an hour");
            }
            return nanos.longValue();
        } catch (NumberFormatException e) {
            throw wrong(text, "'" + value + "' is not a time with its unit");
        }
    }

    private static long seed(String text, String value) {
        try {
            return Long.parseLong(value);
        } catch (NumberFormatException e) {
            throw wrong(text, "'" + value + "' is not a whole number");
        }
    }

    private static IllegalArgumentException wrong(String text, String what) {
        return new IllegalArgumentException("faults '" + text + "': " + what + "; use " + SYNTAX);
    }
}
