package io.rdma4j.tools.perftest;

/**
 * The parts of a run that time ends: a margin, what is measured, another margin. Made by the thread that works; a thread
 * of its own goes from part to part, as perftest's alarm does.
 */
final class Phases {
    private static final int MARGIN = 0;
    private static final int SAMPLING = 1;
    private static final int LAST_MARGIN = 2;
    private static final int OVER = 3;

    private volatile int phase = MARGIN;
    private volatile long beganNanos;
    private volatile long endedNanos;

    /** Not running: never over, and nothing is measured. */
    static Phases idle() {
        return new Phases();
    }

    /** Begins now. */
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
            endedNanos = System.nanoTime();
            phase = LAST_MARGIN;
            Thread.sleep(marginMillis);
            phase = OVER;
        } catch (InterruptedException e) {
            phase = OVER;
        }
    }

    private void sample() {
        beganNanos = System.nanoTime();
        phase = SAMPLING;
    }

    boolean isSampling() {
        return phase == SAMPLING;
    }

    boolean isOver() {
        return phase == OVER;
    }

    long beganNanos() {
        return beganNanos;
    }

    long endedNanos() {
        return endedNanos;
    }
}
