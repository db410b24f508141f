package io.rdma4j.bench.worker;

/**
 * The clock of a ping-pong: says how each ping is stamped, and records how long it took. The first pings warm up: what is
 * recorded of them is forgotten, every {@link WarmUp#LOOK_NANOS} nanoseconds until the warm-up is over. So the measurement
 * runs the code that the warm-up ran; a branch that it alone took would have its compiled loop thrown away as it begins.
 * The last ping is stamped {@link #LAST}, so that the other side knows. Not thread safe.
 */
public final class LatencyMeter {
    /** Stamp of the last ping. */
    public static final byte LAST = 127;

    private static final int STAMPS = 100;
    private static final int CAPACITY = 1 << 20;

    private final LatencySamples samples = new LatencySamples(CAPACITY);
    private final WarmUp warmUp;
    private final long measureNanos;
    private long lookNanos;
    private long end = Long.MAX_VALUE;
    private long previous;
    private int ping;

    /** Starts the clock. */
    public LatencyMeter(Parameters parameters) {
        previous = System.nanoTime();
        warmUp = WarmUp.begin(parameters, null);
        measureNanos = parameters.measureNanos();
    }

    /** The stamp of the next ping, never 0, and never that of the ping before. */
    public byte next() {
        ping++;
        return previous >= end ? LAST : (byte) (1 + ping % STAMPS);
    }

    /** The answer is there. The next ping follows at once. */
    public void done() {
        long now = System.nanoTime();
        samples.add(now - previous);
        previous = now < lookNanos ? now : look(now);
    }

    private long look(long now) {
        boolean warm = warmUp.isOver(now);
        samples.clear();
        long begin = System.nanoTime();
        lookNanos = warm ? Long.MAX_VALUE : begin + WarmUp.LOOK_NANOS;
        end = warm ? begin + measureNanos : Long.MAX_VALUE;
        return begin;
    }

    /** What was recorded. */
    public LatencySamples samples() {
        return samples;
    }
}
