package io.rdma4j.tools.perftest;

import io.rdma4j.tools.command.ToolReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The figures of each size in the JSON report. Each row is reported immediately, so that the report of a run that fails
 * or is interrupted contains the completed measurements. Not thread safe.
 */
final class SizeRows {
    private final ToolReport report;
    private final boolean onlyLast;
    private final List<Map<String, Object>> rows = new ArrayList<>();

    /**
     * Reports an empty list of rows.
     *
     * @param report the report that gets the rows
     * @param onlyLast true if each row replaces the previous one, so that an infinite run does not fill the memory
     */
    SizeRows(ToolReport report, boolean onlyLast) {
        this.report = report;
        this.onlyLast = onlyLast;
        report.result("sizes", List.of());
    }

    /** Reports the figures of another size or period. */
    void add(Map<String, Object> row) {
        if (onlyLast) {
            rows.clear();
        }
        rows.add(row);
        report.result("sizes", List.copyOf(rows));
    }
}
