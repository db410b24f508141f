package io.rdma4j.verbs;

/**
 * The attributes of a port. C: {@code struct ibv_port_attr}.
 *
 * @param isActive true if the port is up
 * @param maxMtu largest path MTU
 * @param activeMtu largest path MTU that the network interface currently supports
 * @param gidTableLength number of entries of the GID table
 * @param maxMessageBytes maximum length of a message in bytes
 * @param networkInterface name of the network interface
 */
public record PortAttributes(
        boolean isActive,
        PathMtu maxMtu,
        PathMtu activeMtu,
        int gidTableLength,
        long maxMessageBytes,
        String networkInterface) {
    /** Returns the state. */
    public PortState state() {
        return isActive ? PortState.ACTIVE : PortState.DOWN;
    }
}
