package io.rdma4j.link.internal;

import java.net.BindException;
import java.net.InetAddress;

/** Says why a UDP port could not be bound. */
public final class BindErrors {
    private BindErrors() {}

    /**
     * A bind failure that names the operation, the address and the cause.
     *
     * @param cause the system's words
     */
    public static BindException of(InetAddress address, int port, String cause) {
        return new BindException("bind UDP " + address.getHostAddress() + " port " + port + ": " + cause);
    }
}
