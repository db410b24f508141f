package io.rdma4j.bench.plan;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** How long a line of cache takes from one processor to another and back, measured by two threads that pass a turn on. */
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

    @SuppressWarnings("unused") // by TURN
    private int turn;

    private ProcessorDistance() {}

    /** The distance of two processors that are free, in nanoseconds; NaN where there is one only. Takes some 20 ms. */
    static double nanos() throws InterruptedException {
        return Runtime.getRuntime().availableProcessors() < 2 ? Double.NaN : new ProcessorDistance().measure();
    }

    /** The best of some rounds: in one of them a thread may have had to wait. */
    private double measure() throws InterruptedException {
        Thread other = new Thread(() -> play(1), "processor-distance");
        other.setDaemon(true);
        other.start();
        long best = play(0);
        other.join();
        return (double) best / TURNS;
    }

    private long play(int player) {
        long best = Long.MAX_VALUE;
        int next = player;
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
