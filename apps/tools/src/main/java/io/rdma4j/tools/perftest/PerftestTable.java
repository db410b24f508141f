package io.rdma4j.tools.perftest;

import java.math.BigDecimal;
import java.math.MathContext;
import java.math.RoundingMode;
import java.util.Locale;

/** The lines of perftest's tables, byte for byte. */
final class PerftestTable {
    static final String LINE = "-".repeat(87);

    private static final String LATENCY_HEAD =
            " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   "
                    + "99% percentile[usec]   99.9% percentile[usec] ";
    private static final String TIMED_LATENCY_HEAD = " #bytes        #iterations       t_avg[usec]    tps average";
    private static final int SIGNIFICANT = 6;
    private static final int SMALLEST_EXPONENT = -4;

    private PerftestTable() {}

    /** Returns the head of a bandwidth table. */
    static String bandwidthHead(boolean gigabits) {
        String unit = gigabits ? "Gb" : "MB";
        return " #bytes     #iterations    BW peak[" + unit + "/sec]    BW average[" + unit + "/sec]   MsgRate[Mpps]";
    }

    /** Returns the head of a latency table. */
    static String latencyHead(boolean timed) {
        return timed ? TIMED_LATENCY_HEAD : LATENCY_HEAD;
    }

    /** Formats a row of a bandwidth table. Small bandwidths in gigabits get more digits. */
    static String bandwidth(BandwidthFigures figures, boolean gigabits) {
        if (figures.average() < 0.1 && gigabits) {
            return String.format(
                    Locale.ROOT,
                    " %-7d    %d           %-7.6f            %-7.6f            %-7.6f",
                    figures.sizeBytes(),
                    figures.iterations(),
                    figures.peak(),
                    figures.average(),
                    figures.messageRate());
        }
        return String.format(
                Locale.ROOT,
                " %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f",
                figures.sizeBytes(),
                figures.iterations(),
                figures.peak(),
                figures.average(),
                figures.messageRate());
    }

    /** Formats a row of a latency table. */
    static String latency(long sizeBytes, LatencyFigures figures) {
        return String.format(
                Locale.ROOT,
                " %-7d %d          %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f",
                sizeBytes,
                figures.iterations(),
                figures.minimum(),
                figures.maximum(),
                figures.typical(),
                figures.average(),
                figures.deviation(),
                figures.percentile99(),
                figures.percentile999());
    }

    /** Formats a row of a timed latency test. */
    static String timedLatency(long sizeBytes, long iterations, double average, double perSecond) {
        return String.format(
                Locale.ROOT,
                " %-7d       %d            %-7.2f        %-7.2f",
                sizeBytes,
                iterations,
                average,
                perSecond);
    }

    /** Formats a line of {@code -H} or {@code -U}. */
    static String sample(int number, double microseconds) {
        return number + ", " + general(microseconds);
    }

    /** Formats a number like C's {@code %lf}. */
    static String plain(double value) {
        return String.format(Locale.ROOT, "%.6f", value);
    }

    /** Formats a number like C's {@code %g}: six significant digits without trailing zeros. */
    static String general(double value) {
        if (value == 0) {
            return "0";
        }
        BigDecimal rounded = new BigDecimal(value)
                .round(new MathContext(SIGNIFICANT, RoundingMode.HALF_EVEN))
                .stripTrailingZeros();
        int exponent = rounded.precision() - rounded.scale() - 1;
        if (exponent >= SMALLEST_EXPONENT && exponent < SIGNIFICANT) {
            return rounded.toPlainString();
        }
        String digits = rounded.unscaledValue().abs().toString();
        return (value < 0 ? "-" : "")
                + digits.charAt(0)
                + (digits.length() > 1 ? "." + digits.substring(1) : "")
                + String.format(Locale.ROOT, "e%s%02d", exponent < 0 ? "-" : "+", Math.abs(exponent));
    }

    /** Formats a number like C's {@code %#0WIDTHx}. Zero has no prefix. */
    static String hexadecimal(long value, int width) {
        String digits = Long.toHexString(value);
        String prefix = value == 0 ? "" : "0x";
        return prefix + "0".repeat(Math.max(0, width - prefix.length() - digits.length())) + digits;
    }
}
