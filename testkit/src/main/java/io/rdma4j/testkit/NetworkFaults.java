package io.rdma4j.testkit;

import java.util.SplittableRandom;

/**
 * What a virtual network does to frames. Probabilities are per frame, from 0 to 1.
 *
 * @param loss a frame never arrives
 * @param duplication a frame arrives twice, the second time later
 * @param reordering a frame is held back while later ones pass
 * @param corruption one bit of a frame is flipped
 * @param latencyNanos time that every frame takes
 * @param jitterNanos most time that a held-back or doubled frame takes in addition
 * @param bursts a frame begins a burst: it and the next ones to the same host never arrive
 */
public record NetworkFaults(
        double loss,
        double duplication,
        double reordering,
        double corruption,
        long latencyNanos,
        long jitterNanos,
        double bursts) {
    /** Most frames that one burst takes. */
    static final int MOST_FRAMES_OF_BURST = 24;

    private static final double MOST_BURSTS = 0.01;

    /** Faults without bursts. */
    public NetworkFaults(
            double loss,
            double duplication,
            double reordering,
            double corruption,
            long latencyNanos,
            long jitterNanos) {
        this(loss, duplication, reordering, corruption, latencyNanos, jitterNanos, 0);
    }

    /** A network that loses nothing, with 10 µs latency. */
    public static final NetworkFaults NONE = new NetworkFaults(0, 0, 0, 0, 10_000, 0);

    /** Faults of every kind and strength, up to the given loss; one network in four has none. */
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

    /** These faults, in one network of four also bursts. */
    public NetworkFaults withBursts(SplittableRandom random) {
        double drawn = random.nextInt(4) == 0 ? random.nextDouble() * MOST_BURSTS : 0;
        return new NetworkFaults(loss, duplication, reordering, corruption, latencyNanos, jitterNanos, drawn);
    }

    /** Whether frames may fail to arrive. */
    public boolean loses() {
        return loss + corruption + bursts > 0;
    }
}
