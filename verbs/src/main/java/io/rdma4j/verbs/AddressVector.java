package io.rdma4j.verbs;

/**
 * How packets reach the peer. C: {@code struct ibv_ah_attr} with its global route.
 *
 * @param sourceGidIndex which of the port's GIDs packets leave from
 * @param destination the peer's GID
 * @param destinationScope interface index where the destination is a link-local address, else 0
 * @param flowLabel 20 bits that spread connections over paths
 * @param hopLimit IP time to live or hop limit
 * @param trafficClass IP type of service or traffic class
 * @param port the device's port, from 1
 */
public record AddressVector(
        int sourceGidIndex,
        Gid destination,
        int destinationScope,
        int flowLabel,
        int hopLimit,
        int trafficClass,
        int port) {}
