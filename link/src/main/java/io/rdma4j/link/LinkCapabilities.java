package io.rdma4j.link;

/**
 * What a link can do, so that its users need not ask for its type.
 *
 * @param mtuBytes largest IP packet that the interface carries whole
 * @param maxSegments frames that one {@link SendBurst} may hold; 1 where each is a call of its own
 * @param identificationCountsSegments whether frame {@code i} of a burst of several leaves with IPv4 identification
 *     {@code i} (segmented sends do so) instead of 0; the ICRC covers it
 */
public record LinkCapabilities(int mtuBytes, int maxSegments, boolean identificationCountsSegments) {}
