package io.rdma4j.bench.plan;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Measures the round-trip time of a cache line between two processors, by two threads that alternate. */
final class ProcessorDistance {
    private static final VarHandle TURN;
    private static final int ROUNDS = 3;
    private static final int TURNS = 20_000;

    static {
        try {
            TURN = MethodHandles.lookup().findVarHandle(ProcessorDistance.class, "turn", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    @SuppressWarnings("unused") // accessed through TURN
    private int turn;

    private ProcessorDistance() {}

    /**
     * Returns the round-trip time between two free processors in nanoseconds, or NaN if there is only one. Takes some
     * 20 ms.
     */
    static double nanos() throws InterruptedException {
        return Runtime.getRuntime().availableProcessors() < 2 ? Double.NaN : new ProcessorDistance().measure();
    }

    /** Returns the best of several rounds, since a thread may have to wait for a processor in some of them. */
    private double measure() throws InterruptedException {
        Thread other = new Thread(() -> alternate(1), "processor-distance");
        other.setDaemon(true);
        other.start();
        long best = alternate(0);
        other.join();
        return (double) best / TURNS;
    }

    private long alternate(int parity) {
        long best = Long.MAX_VALUE;
        int next = parity;
        for (int round = 0; round < ROUNDS; round++) {
            long begin = System.nanoTime();
            for (int i = 0; i < TURNS; i++) {
                while ((int) TURN.getAcquire(this) != next) {
                    Thread.onSpinWait();
                }
                TURN.setRelease(this, next + 1);
                next += 2;
            }
            best = Math.min(best, System.nanoTime() - begin);
        }
        return best;
    }
}
