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
 * @param bitsPerSecond rate of each direction, in bits per second; 0 for no limit
 * @param seed seed of the random numbers; the same seed and frames give the same faults
 */
public record FaultSpec(
        double loss,
        double duplication,
        double reordering,
        double corruption,
        long delayNanos,
        long bitsPerSecond,
        long seed) {
    /** No faults. */
    public static final FaultSpec NONE = new FaultSpec(0, 0, 0, 0, 0, 0, 1);

    /** The syntax that {@link #parse} accepts, for usage messages. */
    public static final String SYNTAX = "loss=P,dup=P,reorder=P,corrupt=P,delay=T,rate=R,seed=N"
            + " in any order and number, where P is a percentage (1%) or a fraction (0.01),"
            + " T a time with its unit (5ms; ns, us, ms or s), R a rate with its unit (10Gbit; kbit, Mbit or Gbit),"
            + " N a whole number";

    private static final long DEFAULT_SEED = 1;
    private static final BigDecimal MIN_RATE = BigDecimal.valueOf(10_000);
    private static final BigDecimal MAX_RATE = BigDecimal.valueOf(1_000_000_000_000L);

    /**
     * Checks the ranges.
     *
     * @throws IllegalArgumentException if a fraction is not from 0 to 1, or the delay or the rate is negative
     */
    public FaultSpec {
        checkProbability("loss", loss);
        checkProbability("dup", duplication);
        checkProbability("reorder", reordering);
        checkProbability("corrupt", corruption);
        if (delayNanos < 0) {
            throw new IllegalArgumentException("delay: " + delayNanos + " ns is negative");
        }
        if (bitsPerSecond < 0) {
            throw new IllegalArgumentException("rate: " + bitsPerSecond + " bit/s is negative");
        }
    }

    private static void checkProbability(String name, double value) {
        if (!(value >= 0 && value <= 1)) {
            throw new IllegalArgumentException(name + ": " + value + " is not from 0 to 1");
        }
    }

    /**
     * Parses a specification such as {@code loss=1%,delay=5ms,seed=7}. Faults that are not given are off. The default
     * seed is 1.
     *
     * @throws IllegalArgumentException if the text does not match {@link #SYNTAX}; the message names the error and the
     *     syntax
     */
    public static FaultSpec parse(String text) {
        double[] probabilities = new double[4];
        long delayNanos = 0;
        long bitsPerSecond = 0;
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
                case "rate" -> bitsPerSecond = rate(text, value);
                case "seed" -> seed = seed(text, value);
                default -> throw invalid(text, "there is no fault '" + name + "'");
            }
        }
        return new FaultSpec(
                probabilities[0],
                probabilities[1],
                probabilities[2],
                probabilities[3],
                delayNanos,
                bitsPerSecond,
                seed);
    }

    /** Returns whether frames pass unchanged and immediately. */
    boolean isNone() {
        return loss == 0
                && duplication == 0
                && reordering == 0
                && corruption == 0
                && delayNanos == 0
                && bitsPerSecond == 0;
    }

    /** Returns these faults with another seed. */
    public FaultSpec withSeed(long other) {
        return new FaultSpec(loss, duplication, reordering, corruption, delayNanos, bitsPerSecond, other);
    }

    /** Returns the rate alone, without the other faults. */
    public FaultSpec rateAlone() {
        return new FaultSpec(0, 0, 0, 0, 0, bitsPerSecond, seed);
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

    private static long rate(String text, String value) {
        int digits = digits(value);
        long unit = switch (value.substring(digits).toLowerCase(Locale.ROOT)) {
            case "kbit" -> 1_000;
            case "mbit" -> 1_000_000;
            case "gbit" -> 1_000_000_000;
            default -> throw invalid(text, "'" + value + "' is not a rate with its unit");
        };
        try {
            BigDecimal bits = new BigDecimal(value.substring(0, digits)).multiply(BigDecimal.valueOf(unit));
            if (bits.compareTo(MIN_RATE) < 0 || bits.compareTo(MAX_RATE) > 0) {
                throw invalid(text, "rate=" + value + " is not from 10kbit to 1000Gbit");
            }
            return bits.longValue();
        } catch (NumberFormatException e) {
            throw invalid(text, "'" + value + "' is not a rate with its unit");
        }
    }

    private static int digits(String value) {
        int digits = 0;
        while (digits < value.length() && (Character.isDigit(value.charAt(digits)) || value.charAt(digits) == '.')) {
            digits++;
        }
        return digits;
    }

    private static long duration(String text, String value) {
        int digits = digits(value);
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
