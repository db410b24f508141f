package io.rdma4j.simulator.network;

import java.util.SplittableRandom;

/**
 * The faults of a virtual network. Probabilities are per frame, from 0 to 1.
 *
 * @param loss probability that a frame is lost
 * @param duplication probability that a frame is delivered twice, the second time later
 * @param reordering probability that a frame is delayed and later frames overtake it
 * @param corruption probability that one bit of a frame is flipped
 * @param latencyNanos latency of every frame
 * @param jitterNanos maximum additional latency of a delayed or duplicated frame
 * @param bursts probability that a frame starts a loss burst: it and the following frames to the same host are lost
 */
public record NetworkFaults(
        double loss,
        double duplication,
        double reordering,
        double corruption,
        long latencyNanos,
        long jitterNanos,
        double bursts) {
    /** The maximum number of frames lost in one burst. */
    static final int MAX_FRAMES_OF_BURST = 24;

    private static final double MAX_BURSTS = 0.01;

    /** Creates faults without loss bursts. */
    public NetworkFaults(
            double loss,
            double duplication,
            double reordering,
            double corruption,
            long latencyNanos,
            long jitterNanos) {
        this(loss, duplication, reordering, corruption, latencyNanos, jitterNanos, 0);
    }

    /** No faults, and a latency of 10 µs. */
    public static final NetworkFaults NONE = new NetworkFaults(0, 0, 0, 0, 10_000, 0);

    /** Draws faults of every kind, with a loss of at most {@code maxLoss}; one network in four has no faults. */
    public static NetworkFaults random(SplittableRandom random, double maxLoss) {
        long latency = random.nextLong(1_000, 200_000);
        if (random.nextInt(4) == 0) {
            return new NetworkFaults(0, 0, 0, 0, latency, 0);
        }
        double loss = random.nextBoolean() ? random.nextDouble() * maxLoss : random.nextDouble() * maxLoss / 10;
        return new NetworkFaults(
                loss,
                random.nextBoolean() ? random.nextDouble() * 0.1 : 0,
                random.nextBoolean() ? random.nextDouble() * 0.1 : 0,
                random.nextBoolean() ? random.nextDouble() * 0.05 : 0,
                latency,
                random.nextLong(1, 20 * latency));
    }

    /** Returns these faults, with loss bursts added in one network of four. */
    public NetworkFaults withBursts(SplittableRandom random) {
        double drawn = random.nextInt(4) == 0 ? random.nextDouble() * MAX_BURSTS : 0;
        return new NetworkFaults(loss, duplication, reordering, corruption, latencyNanos, jitterNanos, drawn);
    }

    /** Returns whether frames may be lost, or dropped because they are corrupted. */
    public boolean loses() {
        return loss + corruption + bursts > 0;
    }
}
