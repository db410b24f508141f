package io.rdma4j.bench.report;

import org.jspecify.annotations.Nullable;

/**
 * What a figure should reach.
 *
 * @param atMost whether the limit is one from above
 * @param limit a ratio to the row {@code against}, or, if there is none, a figure in the unit of the row
 * @param against the other row, or null
 */
public record Aim(boolean atMost, double limit, @Nullable String against) {
    /** Whether a ratio or a figure is within the limit. */
    public boolean isMetBy(double value) {
        return atMost ? value <= limit : value >= limit;
    }

    /**
     * In words: {@code ≤ 1.25 × raw-crc-64}.
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
