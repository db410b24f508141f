package io.rdma4j.cm;

import io.rdma4j.verbs.PathMtu;

/**
 * A path that the application chooses. C: {@code struct ibv_path_data} as RoCE understands it.
 *
 * @param pathMtu payload bytes of a full packet
 * @param trafficClass IPv4 type of service or IPv6 traffic class, 0 to 255
 * @param flowLabel 20 bits
 * @param hopLimit IPv4 time to live or IPv6 hop limit, 1 to 255
 * @param packetLifetime exponent of the longest time that a packet is under way, 0 to 30: 4.096 &micro;s times two to this
 *     power
 */
public record RoutePath(PathMtu pathMtu, int trafficClass, int flowLabel, int hopLimit, int packetLifetime) {
    private static final int LONGEST_LIFETIME = 30;

    /**
     * Checks the ranges.
     *
     * @throws io.rdma4j.verbs.RdmaException {@code EINVAL} if a value is out of range
     */
    public RoutePath {
        boolean inRange = trafficClass >>> 8 == 0
                && flowLabel >>> 20 == 0
                && hopLimit > 0
                && hopLimit >>> 8 == 0
                && packetLifetime >= 0
                && packetLifetime <= LONGEST_LIFETIME;
        if (!inRange) {
            throw IdCore.invalid(
                    "rdma_set_option",
                    "traffic class %d, flow label %d, hop limit %d or packet lifetime %d is out of range"
                            .formatted(trafficClass, flowLabel, hopLimit, packetLifetime),
                    "They have 8, 20, 8 and 5 bits, the last up to 30");
        }
    }
}
