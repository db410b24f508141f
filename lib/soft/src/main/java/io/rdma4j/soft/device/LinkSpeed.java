package io.rdma4j.soft.device;

import io.rdma4j.verbs.PortAttributes;

/**
 * The speed of an Ethernet link in InfiniBand terms. It is rounded up by the kernel's rules for RoCE devices, to at most 100
 * Gbit/s.
 *
 * @param width number of lanes: {@link PortAttributes#activeWidth}
 * @param laneSpeed speed of a lane: {@link PortAttributes#activeSpeed}
 */
record LinkSpeed(int width, int laneSpeed) {
    private static final int ONE_LANE = 1;
    private static final int FOUR_LANES = 2;
    private static final int SINGLE_DATA_RATE = 1;
    private static final int DOUBLE_DATA_RATE = 2;
    private static final int FOURTEEN_DATA_RATE_10 = 8;
    private static final int ENHANCED_DATA_RATE = 32;

    /** Returns the lanes and the speed of each for a speed in Mbit/s, which is 0 if it is unknown. */
    static LinkSpeed of(int megabitsPerSecond) {
        if (megabitsPerSecond <= 1_000) {
            return new LinkSpeed(ONE_LANE, SINGLE_DATA_RATE);
        } else if (megabitsPerSecond <= 10_000) {
            return new LinkSpeed(ONE_LANE, FOURTEEN_DATA_RATE_10);
        } else if (megabitsPerSecond <= 20_000) {
            return new LinkSpeed(FOUR_LANES, DOUBLE_DATA_RATE);
        } else if (megabitsPerSecond <= 25_000) {
            return new LinkSpeed(ONE_LANE, ENHANCED_DATA_RATE);
        } else if (megabitsPerSecond <= 40_000) {
            return new LinkSpeed(FOUR_LANES, FOURTEEN_DATA_RATE_10);
        }
        return new LinkSpeed(FOUR_LANES, ENHANCED_DATA_RATE);
    }
}
