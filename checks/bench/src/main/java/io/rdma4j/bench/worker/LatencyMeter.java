package io.rdma4j.bench.worker;

import java.util.Objects;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The clock of a ping-pong: assigns a stamp to each ping and records its round-trip time.
 *
 * <p>The first pings warm up. Their times are discarded every {@link WarmUp#POLL_NANOS} nanoseconds until the warm-up
 * is over. The measurement therefore runs the same code as the warm-up: a branch that only the measurement takes would
 * invalidate its compiled loop. The last ping has the stamp {@link #LAST}, at which the other side stops. Not thread
 * safe.
 */
public final class LatencyMeter {
    /** The stamp of the last ping. */
    public static final byte LAST = 127;

    private static final int STAMPS = 100;

    private final WarmUp warmUp;
    private final @Nullable FirstSeconds firstSeconds;

    /** The round-trip times; null if the first seconds are measured, so that no library is loaded in these. */
    private final @Nullable Histogram times;

    private final long measureNanos;
    private long pollAtNanos;
    private long end = Long.MAX_VALUE;
    private long previous;
    private int ping;

    /** Starts the clock. */
    public LatencyMeter(Parameters parameters) {
        previous = System.nanoTime();
        warmUp = WarmUp.begin(parameters, null);
        measureNanos = parameters.measureNanos();
        firstSeconds = FirstSeconds.of(parameters);
        times = firstSeconds == null ? Latencies.create() : null;
    }

    /** Returns the stamp of the next ping: never 0, and never that of the previous ping. */
    public byte next() {
        ping++;
        return previous >= end ? LAST : (byte) (1 + ping % STAMPS);
    }

    /** Records the round-trip time of the ping whose reply has arrived. The next ping follows immediately. */
    public void done() {
        long now = System.nanoTime();
        if (times != null) {
            times.recordValue(now - previous);
        }
        previous = now < pollAtNanos ? now : poll(now);
    }

    private long poll(long now) {
        if (firstSeconds != null) {
            return pollSeconds(firstSeconds, now);
        }
        boolean warm = warmUp.isOver(now);
        times().reset();
        long begin = System.nanoTime();
        pollAtNanos = warm ? Long.MAX_VALUE : begin + WarmUp.POLL_NANOS;
        end = warm ? begin + measureNanos : Long.MAX_VALUE;
        return begin;
    }

    private long pollSeconds(FirstSeconds seconds, long now) {
        if (now >= seconds.endNanos()
                && !seconds.end(now, ping, Figures.MEAN_MICROS, pingsPerNano -> 1 / pingsPerNano / 1000)) {
            end = now;
        }
        pollAtNanos = seconds.endNanos();
        return now;
    }

    /**
     * Returns the recorded times in nanoseconds.
     *
     * @throws NullPointerException if the first seconds are measured, of which there is only the mean
     */
    public Histogram times() {
        return Objects.requireNonNull(times, "the first seconds have no percentiles");
    }

    /**
     * Adds the figures: the percentiles of the times, each multiplied by {@code factor}, or the mean of each of the
     * first seconds.
     *
     * @param factor 0.5 converts round trips to one-way times
     */
    public void report(Figures figures, double factor) {
        if (firstSeconds == null) {
            figures.addLatency(times(), factor);
            warmUp.report(figures);
        } else {
            firstSeconds.report(figures, factor);
        }
    }
}
