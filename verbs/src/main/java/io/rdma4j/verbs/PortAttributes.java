package io.rdma4j.verbs;

/**
 * A port of a device. C: {@code struct ibv_port_attr}.
 *
 * @param isActive whether the port is up
 * @param maxMtu largest path MTU
 * @param activeMtu largest path MTU that the network interface carries now
 * @param gidTableLength places of the GID table
 * @param maxMessageBytes most bytes of one message
 * @param networkInterface name of the network interface
 */
public record PortAttributes(
        boolean isActive,
        PathMtu maxMtu,
        PathMtu activeMtu,
        int gidTableLength,
        long maxMessageBytes,
        String networkInterface) {
    /** State. */
    public PortState state() {
        return isActive ? PortState.ACTIVE : PortState.DOWN;
    }
}
