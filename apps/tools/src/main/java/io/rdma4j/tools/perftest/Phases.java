package io.rdma4j.tools.perftest;

/**
 * The phases of a timed run: a margin, the measured interval, and another margin. A separate thread advances the phase,
 * instead of perftest's alarm signal, and the measuring thread reads it.
 */
final class Phases {
    private static final int MARGIN = 0;
    private static final int SAMPLING = 1;
    private static final int LAST_MARGIN = 2;
    private static final int OVER = 3;

    private volatile int phase = MARGIN;
    private volatile long startNanos;
    private volatile long endNanos;

    /** Returns phases that never advance: nothing is measured and the run is never over. */
    static Phases idle() {
        return new Phases();
    }

    /** Starts the phases of a run. */
    static Phases start(Settings settings) {
        Phases phases = new Phases();
        if (settings.marginSeconds == 0) {
            phases.sample();
        }
        Thread.ofPlatform()
                .daemon()
                .name("perftest-time")
                .start(() -> phases.run(settings.durationSeconds * 1000L, settings.marginSeconds * 1000L));
        return phases;
    }

    private void run(long durationMillis, long marginMillis) {
        try {
            if (marginMillis > 0) {
                Thread.sleep(marginMillis);
                sample();
            }
            Thread.sleep(durationMillis - 2 * marginMillis);
            endNanos = System.nanoTime();
            phase = LAST_MARGIN;
            Thread.sleep(marginMillis);
            phase = OVER;
        } catch (InterruptedException e) {
            phase = OVER;
        }
    }

    private void sample() {
        startNanos = System.nanoTime();
        phase = SAMPLING;
    }

    boolean isSampling() {
        return phase == SAMPLING;
    }

    boolean isOver() {
        return phase == OVER;
    }

    long startNanos() {
        return startNanos;
    }

    long endNanos() {
        return endNanos;
    }
}
