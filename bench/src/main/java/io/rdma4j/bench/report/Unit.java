package io.rdma4j.bench.report;

import java.util.Locale;

/** What a figure counts, and which way is better. */
public enum Unit {
    /** Time of a message or of an operation. */
    MICROSECONDS("µs", false),
    /** Time of a process. */
    SECONDS("s", false),
    /** Throughput, 10⁹ bytes a second. */
    GIGABYTES_PER_SECOND("GB/s", true),
    /** Rate of messages. */
    MILLIONS_PER_SECOND("M/s", true),
    /** Rate of slower things. */
    PER_SECOND("/s", true),
    /** Processor time for 10⁹ bytes. */
    SECONDS_PER_GIGABYTE("s/GB", false),
    /** Memory. */
    BYTES("B", false),
    /** Part of a processor, 1 is a whole one. */
    PROCESSORS("cores", false),
    /** A number of things. */
    COUNT("", false);

    private final String symbol;
    private final boolean moreIsBetter;

    Unit(String symbol, boolean moreIsBetter) {
        this.symbol = symbol;
        this.moreIsBetter = moreIsBetter;
    }

    /** As it is written behind a number. */
    public String symbol() {
        return symbol;
    }

    /** Whether more is better. */
    public boolean moreIsBetter() {
        return moreIsBetter;
    }

    /** A number with three significant digits, and no more than that after the point. */
    public static String number(double value) {
        double size = Math.abs(value);
        if (!Double.isFinite(value)) {
            return "-";
        }
        if (size >= 100 || value == Math.rint(value) && size >= 10) {
            return String.format(Locale.ROOT, "%.0f", value);
        }
        if (size >= 10) {
            return String.format(Locale.ROOT, "%.1f", value);
        }
        return String.format(Locale.ROOT, size >= 1 || size == 0 ? "%.2f" : "%.3f", value);
    }

    /** A number with its unit. */
    public String text(double value) {
        return symbol.isEmpty() ? number(value) : number(value) + " " + symbol;
    }
}
