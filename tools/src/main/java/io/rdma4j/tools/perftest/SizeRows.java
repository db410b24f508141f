package io.rdma4j.tools.perftest;

import io.rdma4j.tools.ToolReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The figures of each size for programs to read. Each is there once it is known, so that a run that fails or is ended
 * tells what it has measured. Not thread safe.
 */
final class SizeRows {
    private final ToolReport report;
    private final boolean onlyLast;
    private final List<Map<String, Object>> rows = new ArrayList<>();

    /**
     * Begins with none.
     *
     * @param report where they go
     * @param onlyLast whether each takes the place of the one before: those of a run without end would fill the memory
     */
    SizeRows(ToolReport report, boolean onlyLast) {
        this.report = report;
        this.onlyLast = onlyLast;
        report.result("sizes", List.of());
    }

    /** Tells the figures of one more size, or period. */
    void add(Map<String, Object> row) {
        if (onlyLast) {
            rows.clear();
        }
        rows.add(row);
        report.result("sizes", List.copyOf(rows));
    }
}
