package io.rdma4j.link;

/**
 * The capabilities of a link.
 *
 * @param mtuBytes size of the largest IP packet that the interface carries unfragmented
 * @param maxSegments number of frames that one {@link SendBurst} may hold; 1 if each frame needs its own system call
 * @param identificationCountsSegments true if frame {@code i} of a burst of several frames is sent with IPv4
 *     identification {@code i} (segmented sends do so) instead of 0; the ICRC covers the identification
 * @param receivesZeroChecksum true if frames without a UDP checksum are received. IPv4 links receive them. Over IPv6,
 *     Linux's rdma_rxe sends frames without a checksum too, but an IPv6 socket drops such datagrams by default, and NIO
 *     cannot change that. The {@code nio} link set therefore receives nothing from a Linux kernel over IPv6.
 */
public record LinkCapabilities(
        int mtuBytes, int maxSegments, boolean identificationCountsSegments, boolean receivesZeroChecksum) {}
