package io.rdma4j.soft.engine;

import io.rdma4j.sharing.Port;
import io.rdma4j.transport.DatagramDestination;

/**
 * The route of datagrams: the local port and the destination.
 *
 * @param port the port that they are sent from
 * @param remoteHigh destination address, upper half
 * @param remoteLow destination address, lower half
 * @param remoteScope interface number of a link-local destination; 0 for others
 * @param trafficClass IPv4 type of service or IPv6 traffic class
 * @param hopLimit IPv4 time to live or IPv6 hop limit; 0 for 64
 * @param flowLabel IPv6 flow label, 20 bits; 0 for any
 */
public record DatagramRoute(
        Port port, long remoteHigh, long remoteLow, int remoteScope, int trafficClass, int hopLimit, int flowLabel)
        implements DatagramDestination {}
