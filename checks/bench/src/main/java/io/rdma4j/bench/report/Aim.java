package io.rdma4j.bench.report;

import org.jspecify.annotations.Nullable;

/**
 * The target of a figure.
 *
 * @param atMost true for an upper limit, false for a lower limit
 * @param limit a ratio to the row {@code against}, or, without such a row, a value in the unit of the figure
 * @param against the other row, or null
 */
public record Aim(boolean atMost, double limit, @Nullable String against) {
    /** Returns whether a ratio or figure is within the limit. */
    public boolean isMetBy(double value) {
        return atMost ? value <= limit : value >= limit;
    }

    /**
     * Returns the aim as text: {@code ≤ 1.25 × raw-crc-64}.
     *
     * @param unit unit of the row
     */
    public String text(Unit unit) {
        String sign = atMost ? "≤ " : "≥ ";
        return against == null
                ? sign + (unit == Unit.BYTES ? Unit.number(limit / 1024) + " KiB" : unit.text(limit))
                : sign + Unit.number(limit) + " × " + against;
    }
}
