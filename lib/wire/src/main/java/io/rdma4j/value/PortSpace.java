package io.rdma4j.value;

import java.util.Optional;

/** A space of port numbers, and the type of service that it provides. C: {@code enum rdma_port_space}. */
public enum PortSpace {
    /** Reliable connections. C: {@code RDMA_PS_TCP}. */
    TCP(0x0106),
    /** Unreliable datagrams. C: {@code RDMA_PS_UDP}. */
    UDP(0x0111),
    /** Unreliable datagrams of IP over InfiniBand. C: {@code RDMA_PS_IPOIB}. */
    IPOIB(0x0002),
    /**
     * Any service, in InfiniBand's own service IDs. An identifier may have any queue pair type. C: {@code RDMA_PS_IB}.
     */
    IB(0x013f);

    private static final CodeTable<PortSpace> BY_CODE = new CodeTable<>(values(), PortSpace::code);

    private final int code;

    PortSpace(int code) {
        this.code = code;
    }

    /** Returns the number in {@code enum rdma_port_space}. */
    public int code() {
        return code;
    }

    /** Returns the queue pair type of its services; for {@link #IB} the default type of identifiers. */
    public QueuePairType queuePairType() {
        return isDatagram() ? QueuePairType.UNRELIABLE_DATAGRAM : QueuePairType.RELIABLE_CONNECTION;
    }

    /** Returns whether its services are always unreliable datagrams. Those of {@link #IB} may be. */
    public boolean isDatagram() {
        return this == UDP || this == IPOIB;
    }

    /**
     * Returns the InfiniBand service ID of a port: {@code (port space << 16) + port}.
     *
     * @param port 0 to 65535
     */
    public long serviceId(int port) {
        return ((long) code << 16) + port;
    }

    /** Returns the constant with a numeric value of {@code enum rdma_port_space}, or nothing if there is none. */
    public static Optional<PortSpace> ofCode(int code) {
        return BY_CODE.get(code);
    }
}
