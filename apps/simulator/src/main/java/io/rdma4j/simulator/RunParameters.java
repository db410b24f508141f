package io.rdma4j.simulator;

import io.rdma4j.simulator.network.NetworkFaults;
import java.util.SplittableRandom;

/**
 * The parameters of a run, drawn from its seed.
 *
 * @param hosts number of hosts
 * @param connections number of connections between them
 * @param operationsPerSide maximum number of work requests that each side of a connection posts
 * @param maxMessageBytes maximum length of a message
 * @param breaksRules true if the last request of some sides is one that the peer must refuse
 * @param faults faults of the network
 */
record RunParameters(
        int hosts,
        int connections,
        int operationsPerSide,
        int maxMessageBytes,
        boolean breaksRules,
        NetworkFaults faults) {
    static RunParameters random(SplittableRandom random, double maxLoss) {
        int hosts = random.nextInt(2, 5);
        int[] sizes = {64, 600, 3_000, 12_000, 40_000};
        return new RunParameters(
                hosts,
                random.nextInt(1, 4),
                random.nextInt(1, 16),
                sizes[random.nextInt(sizes.length)],
                false,
                NetworkFaults.random(random, maxLoss));
    }
}
