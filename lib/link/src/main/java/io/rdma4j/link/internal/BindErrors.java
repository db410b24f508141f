package io.rdma4j.link.internal;

import java.net.BindException;
import java.net.InetAddress;

/** Creates exceptions for UDP ports that could not be bound. */
public final class BindErrors {
    private BindErrors() {}

    /**
     * Returns an exception that names the operation, the address and the cause.
     *
     * @param cause description of the cause, from the operating system
     */
    public static BindException of(InetAddress address, int port, String cause) {
        return new BindException("bind UDP " + address.getHostAddress() + " port " + port + ": " + cause);
    }
}
