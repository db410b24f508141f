package io.rdma4j.testkit.simulation;

import io.rdma4j.sockets.stream.StreamSizes;
import io.rdma4j.testkit.NetworkFaults;
import java.util.SplittableRandom;

/**
 * What one run of streams is made of; drawn from its seed.
 *
 * @param streams number of streams
 * @param mostBytes most that one side writes
 * @param mostBufferBytes largest buffer
 * @param mostQueue longest queue
 * @param hasImmediate whether the transport has immediate data
 * @param maps whether both sides map memory for each other
 * @param kills whether a side is killed at some time
 * @param faults what the network does
 */
record StreamParameters(
        int streams,
        int mostBytes,
        int mostBufferBytes,
        int mostQueue,
        boolean hasImmediate,
        boolean maps,
        boolean kills,
        NetworkFaults faults) {
    private static final int INLINE_BYTES = 100;

    static StreamParameters random(SplittableRandom random, double maxLoss) {
        int[] bytes = {100, 3_000, 20_000, 60_000};
        int[] buffers = {64, 1_000, 9_000, 40_000};
        return new StreamParameters(
                random.nextInt(1, 3),
                bytes[random.nextInt(bytes.length)],
                buffers[random.nextInt(buffers.length)],
                random.nextBoolean() ? StreamSizes.LEAST_QUEUE : 100,
                random.nextInt(4) != 0,
                random.nextInt(3) == 0,
                random.nextInt(4) == 0,
                NetworkFaults.random(random, maxLoss));
    }

    /** Sizes of one side, which the other does not share. */
    StreamSizes sizes(SplittableRandom random) {
        int most = Math.max(mostBufferBytes, StreamSizes.LOW_WATER_BYTES);
        return new StreamSizes(
                random.nextInt(StreamSizes.LEAST_QUEUE, mostQueue + 1),
                random.nextInt(StreamSizes.LEAST_QUEUE, mostQueue + 1),
                random.nextInt(StreamSizes.LOW_WATER_BYTES, most + 1),
                2 * random.nextInt(1, mostBufferBytes / 2 + 1),
                random.nextInt(INLINE_BYTES),
                1);
    }
}
