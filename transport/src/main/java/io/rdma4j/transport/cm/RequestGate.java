package io.rdma4j.transport.cm;

import io.rdma4j.wire.Gid;

/** Decides whether requests of an address are served at all. Called from inside {@link CmAgent#onMad}; must not throw. */
@FunctionalInterface
public interface RequestGate {
    /**
     * Whether requests are served; others are rejected, without keeping anything.
     *
     * @param nowNanos the time
     * @param source address that the request came from
     */
    boolean isOpen(long nowNanos, Gid source);
}
