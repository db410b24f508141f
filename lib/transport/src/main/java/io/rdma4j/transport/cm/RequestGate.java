package io.rdma4j.transport.cm;

import io.rdma4j.value.Gid;

/**
 * Decides which source addresses are served at all. The agent asks during {@link CmAgent#onMad}; an implementation must not
 * throw or call the agent.
 */
@FunctionalInterface
public interface RequestGate {
    /**
     * Returns whether requests of an address are served. Others are rejected without allocating any state.
     *
     * @param nowNanos current time
     * @param source address that the request came from
     */
    boolean isOpen(long nowNanos, Gid source);
}
