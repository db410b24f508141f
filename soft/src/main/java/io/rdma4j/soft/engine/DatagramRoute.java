package io.rdma4j.soft.engine;

import io.rdma4j.transport.DatagramDestination;

/**
 * The route of datagrams: the local port and the destination.
 *
 * @param port the port that they are sent from
 * @param remoteHigh destination address, upper half
 * @param remoteLow destination address, lower half
 * @param remoteScope interface number of a link-local destination; 0 for others
 * @param trafficClass IPv4 type of service or IPv6 traffic class
 */
public record DatagramRoute(Port port, long remoteHigh, long remoteLow, int remoteScope, int trafficClass)
        implements DatagramDestination {}
