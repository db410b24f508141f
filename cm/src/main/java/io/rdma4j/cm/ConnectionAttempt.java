package io.rdma4j.cm;

import java.net.InetSocketAddress;

/**
 * What is known of a connection request before anything is kept of it. Immutable.
 *
 * @param source address that the request came from, and the port that the peer says it has
 * @param destination local address that it came to, and the port of the listener
 * @param portSpace port space of both ports: for {@link PortSpace#UDP} it is a question for a datagram service
 */
public record ConnectionAttempt(InetSocketAddress source, InetSocketAddress destination, PortSpace portSpace) {
    /** The 64-bit service ID of the destination, as it is on the wire. */
    public long serviceId() {
        return portSpace.serviceId(destination.getPort());
    }
}
