package io.rdma4j.link;

/**
 * What a link can do, so that its users need not ask for its type.
 *
 * @param mtuBytes largest IP packet that the interface carries whole
 * @param maxSegments frames that one {@link SendBurst} may hold; 1 where each is a call of its own
 * @param identificationCountsSegments whether frame {@code i} of a burst of several leaves with IPv4 identification
 *     {@code i} (segmented sends do so) instead of 0; the ICRC covers it
 * @param receivesZeroChecksum whether frames without a UDP checksum arrive. IPv4 links receive them. Linux's rdma_rxe
 *     sends none on IPv6 either, and an IPv6 socket drops such datagrams unless told otherwise, which NIO cannot do: over
 *     the {@code nio} link set an IPv6 peer that is a Linux kernel is not heard
 */
public record LinkCapabilities(
        int mtuBytes, int maxSegments, boolean identificationCountsSegments, boolean receivesZeroChecksum) {}
