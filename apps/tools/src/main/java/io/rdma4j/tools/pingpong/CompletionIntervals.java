package io.rdma4j.tools.pingpong;

import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.WorkCompletion;
import java.util.Locale;

/**
 * The times from each receive to the next, by the timestamps of their completions: {@code -t}.
 *
 * <p>The unit is the clock cycle, as in C. The clock is the device's if the completion queue uses it. Otherwise it is
 * {@link System#nanoTime}, and a cycle is a nanosecond.
 */
final class CompletionIntervals {
    private static final double KILOHERTZ_OF_NANOSECONDS = 1e6;

    private final double cyclesPerNanosecond;
    private final double wrapNanos;
    private boolean started;
    private long previousNanos;
    private double maxNanos;
    private double minNanos = Double.MAX_VALUE;
    private double totalNanos;
    private int count;

    private CompletionIntervals(double cyclesPerNanosecond, double wrapNanos) {
        this.cyclesPerNanosecond = cyclesPerNanosecond;
        this.wrapNanos = wrapNanos;
    }

    /** Creates the intervals of the receives that complete at a queue. */
    static CompletionIntervals of(CompletionQueue completions) {
        DeviceAttributes device = completions.context().attributes();
        if (!completions.usesDeviceClock() || device.clockKilohertz() == 0) {
            return new CompletionIntervals(1, 0);
        }
        double cycles = device.clockKilohertz() / KILOHERTZ_OF_NANOSECONDS;
        double range = Math.scalb(1.0, Long.SIZE - Long.numberOfLeadingZeros(device.completionTimestampMask()));
        return new CompletionIntervals(cycles, range / cycles);
    }

    /** Adds the completion of a receive. */
    void add(WorkCompletion received) {
        long nanos = received.timestampNanos();
        if (started) {
            double delta = (double) nanos - previousNanos;
            if (delta < 0) {
                delta += wrapNanos; // the device's clock has wrapped
            }
            maxNanos = Math.max(maxNanos, delta);
            minNanos = Math.min(minNanos, delta);
            totalNanos += delta;
            count++;
        }
        started = true;
        previousNanos = nanos;
    }

    /** Prints the figures with C's lines, and adds them to the report. There are none for fewer than two receives. */
    void report(ToolEnvironment environment) {
        if (count == 0) {
            return;
        }
        environment.out().println("Max receive completion clock cycles = " + cycles(maxNanos));
        environment.out().println("Min receive completion clock cycles = " + cycles(minNanos));
        environment
                .out()
                .println("Average receive completion clock cycles = "
                        + String.format(Locale.ROOT, "%f", totalNanos / count * cyclesPerNanosecond));
        environment
                .report()
                .result("maxReceiveIntervalNanoseconds", Math.round(maxNanos))
                .result("minReceiveIntervalNanoseconds", Math.round(minNanos))
                .result("averageReceiveIntervalNanoseconds", totalNanos / count);
    }

    private long cycles(double nanos) {
        return Math.round(nanos * cyclesPerNanosecond);
    }
}
