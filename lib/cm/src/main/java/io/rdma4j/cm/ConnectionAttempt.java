package io.rdma4j.cm;

import io.rdma4j.value.PortSpace;
import java.net.InetSocketAddress;

/**
 * A connection request before the library keeps any state for it. Immutable.
 *
 * @param source address from which the request came, and the port that the peer specified
 * @param destination local address at which the request arrived, and the port of the listener
 * @param portSpace port space of both ports; for {@link PortSpace#UDP} the request resolves a datagram service
 */
public record ConnectionAttempt(InetSocketAddress source, InetSocketAddress destination, PortSpace portSpace) {
    /** Returns the 64-bit service ID of the destination, as it is sent on the wire. */
    public long serviceId() {
        return portSpace.serviceId(destination.getPort());
    }
}
