package io.rdma4j.tools.demo;

import io.rdma4j.tools.command.LatencyHistogram;
import io.rdma4j.tools.command.SharedMemoryCheck;
import java.util.Locale;

/** Prints latencies as a table and as a sentence. */
final class LatencyTable {
    private static final double[] PERCENTILES = {50, 90, 99, 99.9};

    private LatencyTable() {}

    static void print(DemoOutput output, LatencyHistogram latencies) {
        StringBuilder head = new StringBuilder("   ");
        StringBuilder row = new StringBuilder("   ");
        for (double percentile : PERCENTILES) {
            head.append(String.format(
                    Locale.ROOT, "%-12s", "p" + (percentile == 99.9 ? "99.9" : String.valueOf((int) percentile))));
            row.append(String.format(Locale.ROOT, "%-12s", duration(latencies.percentileNanos(percentile))));
        }
        output.print(head + "max");
        output.print(row + duration(latencies.maximumNanos()));
        output.print("");
        output.print("   Half of the pings took less than " + duration(latencies.percentileNanos(50))
                + ", 99 of 100 less than " + duration(latencies.percentileNanos(99)) + ". A ping is two messages each");
        output.print(
                "   way, an RDMA READ and an RDMA WRITE, one after the other, between two processes. Both warmed up first,");
        output.print("   so that Java had compiled their code, and the first pings are not included.");
        if (SharedMemoryCheck.obstacle().isEmpty()) {
            output.print("   The packets went through memory that the processes share, since both are on this host.");
        }
    }

    /** Formats a duration with about three digits and a unit. */
    static String duration(long nanos) {
        if (nanos < 1_000) {
            return nanos + " ns";
        }
        if (nanos < 1_000_000) {
            return String.format(Locale.ROOT, nanos < 100_000 ? "%.1f us" : "%.0f us", nanos / 1e3);
        }
        if (nanos < 1_000_000_000) {
            return String.format(Locale.ROOT, nanos < 100_000_000 ? "%.1f ms" : "%.0f ms", nanos / 1e6);
        }
        return String.format(Locale.ROOT, "%.1f s", nanos / 1e9);
    }
}
