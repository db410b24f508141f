package io.rdma4j.harness;

import java.util.List;
import java.util.regex.Pattern;

/** The table that a tool of perftest prints. */
public final class PerftestTable {
    private static final Pattern ROW = Pattern.compile("^ *[0-9]+ +[0-9]+ +[0-9.]+");

    /** A table of latencies has more columns than one of rates. */
    private static final int COLUMNS_OF_RATES = 6;

    private static final int COLUMNS_OF_AVERAGES = 4;

    private PerftestTable() {}

    private static List<String> lastRow(RunningProcess process) throws CaseFailure {
        List<String> rows = process.out().lines().filter(ROW.asPredicate()).toList();
        Stage.require(!rows.isEmpty(), "the " + process.label() + " prints no row of figures");
        return List.of(rows.getLast().strip().split(" +", -1));
    }

    private static int column(List<String> row) {
        return row.size() > COLUMNS_OF_RATES ? 4 : row.size() > COLUMNS_OF_AVERAGES ? 3 : 2;
    }

    /** Returns the latency in microseconds or the rate in MB/s: the typical value, or the average with -D or of a rate. */
    public static double value(RunningProcess process) throws CaseFailure {
        List<String> row = lastRow(process);
        return Double.parseDouble(row.get(column(row)));
    }

    /** Returns the same value with its meaning and its unit. */
    public static String figure(RunningProcess process) throws CaseFailure {
        List<String> row = lastRow(process);
        String value = row.get(column(row));
        return switch (column(row)) {
            case 4 -> "typical " + value + " us";
            case 3 -> value + " MB/s";
            default -> "average " + value + " us";
        };
    }
}
