package io.rdma4j.tools.sockets;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.Locale;

/** The formats of sizes, counts and times in the output of the socket tools. */
final class TransferFigures {
    /** The header of the table. */
    static final String HEADER = String.format(
            Locale.ROOT,
            "%-10s%-8s%-8s%-8s%-8s%8s %10s%13s",
            "name",
            "bytes",
            "xfers",
            "iters",
            "total",
            "time",
            "Gb/sec",
            "usec/xfer");

    private static final int KIB = 1 << 10;
    private static final int MIB = 1 << 20;
    private static final int GIB = 1 << 30;

    private TransferFigures() {}

    /**
     * Formats a number of bytes with a unit, truncated, with one decimal below ten units: 64, 1.5k, 12m. C: {@code
     * size_str}.
     */
    static String sizeText(long bytes) {
        long unit = bytes >= GIB ? GIB : bytes >= MIB ? MIB : bytes >= KIB ? KIB : 1;
        String name = unit == GIB ? "g" : unit == MIB ? "m" : unit == KIB ? "k" : "";
        long tenth = bytes / unit < 10 ? bytes % unit * 10 / unit : 0;
        return bytes / unit + (tenth == 0 ? "" : "." + tenth) + name;
    }

    /** Formats a count in whole thousands, millions or billions. C: {@code cnt_str}. */
    static String countText(long count) {
        if (count >= 1_000_000_000) {
            return count / 1_000_000_000 + "b";
        }
        return count >= 1_000_000
                ? count / 1_000_000 + "m"
                : count >= 1000 ? count / 1000 + "k" : String.valueOf(count);
    }

    /** Returns the number of transfers of a test of the given size. C: {@code size_to_count}. */
    static int countOf(int sizeBytes) {
        return sizeBytes >= MIB ? 100 : sizeBytes >= 1 << 16 ? 1000 : sizeBytes >= KIB ? 10_000 : 100_000;
    }

    /** Formats a number with two decimals, rounded as in C: from its exact value, half to even. */
    static String twoDecimals(double value) {
        if (Double.isNaN(value)) {
            return "-nan";
        }
        if (Double.isInfinite(value)) {
            return value > 0 ? "inf" : "-inf";
        }
        return new BigDecimal(value).setScale(2, RoundingMode.HALF_EVEN).toPlainString();
    }

    /** Pads text on the left to a width. */
    static String right(int width, String text) {
        return " ".repeat(Math.max(0, width - text.length())) + text;
    }

    /** Pads text on the right to a width. */
    static String left(int width, String text) {
        return text + " ".repeat(Math.max(0, width - text.length()));
    }
}
