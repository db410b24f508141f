package io.rdma4j.tools.rping;

import io.rdma4j.tools.command.ToolReport;

/** Collects statistics of a client's pings for {@code --json}. Used by one thread. */
final class PingStatistics implements PingObserver {
    private final ToolReport report;
    private long pings;
    private long totalNanos;
    private long minimumNanos = Long.MAX_VALUE;
    private long maximumNanos;

    PingStatistics(ToolReport report) {
        this.report = report;
    }

    @Override
    public void onPing(int ping, long nanos) {
        pings++;
        totalNanos += nanos;
        minimumNanos = Math.min(minimumNanos, nanos);
        maximumNanos = Math.max(maximumNanos, nanos);
        report.result("pings", pings)
                .result("roundTripMinimumNanos", minimumNanos)
                .result("roundTripAverageNanos", totalNanos / pings)
                .result("roundTripMaximumNanos", maximumNanos);
    }
}
