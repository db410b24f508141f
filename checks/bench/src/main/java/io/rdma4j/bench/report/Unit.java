package io.rdma4j.bench.report;

import java.util.Locale;

/** The unit of a figure, and whether more is better. */
public enum Unit {
    /** Time of a message or operation. */
    MICROSECONDS("µs", false),
    /** Time of a process. */
    SECONDS("s", false),
    /** Throughput in 10⁹ bytes per second. */
    GIGABYTES_PER_SECOND("GB/s", true),
    /** Rate in 10⁶ messages per second. */
    MILLIONS_PER_SECOND("M/s", true),
    /** Rate per second. */
    PER_SECOND("/s", true),
    /** Processor time per 10⁹ bytes. */
    SECONDS_PER_GIGABYTE("s/GB", false),
    /** Memory. */
    BYTES("B", false),
    /** Number of processors used; 1 is a whole one. */
    PROCESSORS("cores", false),
    /** A count. */
    COUNT("", false);

    private final String symbol;
    private final boolean moreIsBetter;

    Unit(String symbol, boolean moreIsBetter) {
        this.symbol = symbol;
        this.moreIsBetter = moreIsBetter;
    }

    /** Returns the symbol that follows a number. */
    public String symbol() {
        return symbol;
    }

    /** Returns whether more is better. */
    public boolean moreIsBetter() {
        return moreIsBetter;
    }

    /** Formats a number with three significant digits, and at most three decimals. */
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

    /** Formats a number with its unit. */
    public String text(double value) {
        return symbol.isEmpty() ? number(value) : number(value) + " " + symbol;
    }
}
