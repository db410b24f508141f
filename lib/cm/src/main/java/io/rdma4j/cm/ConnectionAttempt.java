package io.rdma4j.cm;

import io.rdma4j.value.PortSpace;
import java.net.InetSocketAddress;

/**
 * A connection request before any state is kept for it. Immutable.
 *
 * @param source address that the request came from, and the port stated by the peer
 * @param destination local address that the request arrived at, and the port of the listener
 * @param portSpace port space of both ports; for {@link PortSpace#UDP} the request resolves a datagram service
 */
public record ConnectionAttempt(InetSocketAddress source, InetSocketAddress destination, PortSpace portSpace) {
    /** Returns the 64-bit service ID of the destination, as sent on the wire. */
    public long serviceId() {
        return portSpace.serviceId(destination.getPort());
    }
}
