package io.rdma4j.simulator;

import io.rdma4j.simulator.network.NetworkFaults;
import io.rdma4j.sockets.stream.StreamSizes;
import java.util.SplittableRandom;

/**
 * The parameters of a run of streams, drawn from its seed.
 *
 * @param streams number of streams
 * @param maxBytes maximum number of bytes that one side writes
 * @param maxBufferBytes maximum size of a buffer
 * @param maxQueueLength maximum length of a queue
 * @param hasImmediate true if the transport has immediate data
 * @param maps true if both sides map memory for each other
 * @param kills true if a side is killed at some time
 * @param faults faults of the network
 */
record StreamParameters(
        int streams,
        int maxBytes,
        int maxBufferBytes,
        int maxQueueLength,
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
                random.nextBoolean() ? StreamSizes.MIN_QUEUE : 100,
                random.nextInt(4) != 0,
                random.nextInt(3) == 0,
                random.nextInt(4) == 0,
                NetworkFaults.random(random, maxLoss));
    }

    /** Draws the sizes of one side, independently of the peer's sizes. */
    StreamSizes sizes(SplittableRandom random) {
        int max = Math.max(maxBufferBytes, StreamSizes.LOW_WATER_BYTES);
        return new StreamSizes(
                random.nextInt(StreamSizes.MIN_QUEUE, maxQueueLength + 1),
                random.nextInt(StreamSizes.MIN_QUEUE, maxQueueLength + 1),
                random.nextInt(StreamSizes.LOW_WATER_BYTES, max + 1),
                2 * random.nextInt(1, maxBufferBytes / 2 + 1),
                random.nextInt(INLINE_BYTES),
                1);
    }
}
