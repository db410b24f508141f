package io.rdma4j.cm;

import io.rdma4j.value.PathMtu;

/**
 * A path that the application sets instead of resolving the route. C: {@code struct ibv_path_data} as RoCE interprets
 * it. Immutable.
 *
 * @param pathMtu maximum payload of a packet
 * @param trafficClass IPv4 type of service or IPv6 traffic class, 0 to 255
 * @param flowLabel flow label, 20 bits
 * @param hopLimit IPv4 time to live or IPv6 hop limit, 1 to 255
 * @param packetLifetime maximum time that a packet is in flight, as an exponent n, 0 to 30: 4.096 µs × 2<sup>n</sup>
 */
public record RoutePath(PathMtu pathMtu, int trafficClass, int flowLabel, int hopLimit, int packetLifetime) {
    private static final int MAX_LIFETIME = 30;

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
                && packetLifetime <= MAX_LIFETIME;
        if (!inRange) {
            throw CmId.invalid(
                    "rdma_set_option",
                    "traffic class %d, flow label %d, hop limit %d or packet lifetime %d is out of range"
                            .formatted(trafficClass, flowLabel, hopLimit, packetLifetime),
                    "They have 8, 20, 8 and 5 bits, the last up to 30");
        }
    }
}
