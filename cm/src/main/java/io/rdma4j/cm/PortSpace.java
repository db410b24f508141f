package io.rdma4j.cm;

import io.rdma4j.verbs.QueuePairType;

/** A space of port numbers, with the kind of service it stands for. C: {@code enum rdma_port_space}. */
public enum PortSpace {
    /** Connected, reliable. C: {@code RDMA_PS_TCP}. */
    TCP(0x0106),
    /** Datagrams, unreliable. C: {@code RDMA_PS_UDP}. */
    UDP(0x0111),
    /** Datagrams of IP over InfiniBand, unreliable. C: {@code RDMA_PS_IPOIB}. */
    IPOIB(0x0002),
    /**
     * Any service, in the service IDs of InfiniBand itself: an identifier of it may be of any type of queue pair. C: {@code
     * RDMA_PS_IB}.
     */
    IB(0x013f);

    private final int code;

    PortSpace(int code) {
        this.code = code;
    }

    /** The number of {@code enum rdma_port_space}. */
    public int code() {
        return code;
    }

    /** The type of queue pair of its services; of {@link #IB} that of identifiers that are made without saying another. */
    public QueuePairType queuePairType() {
        return isDatagram() ? QueuePairType.UNRELIABLE_DATAGRAM : QueuePairType.RELIABLE_CONNECTION;
    }

    /** Whether its services are of unreliable datagrams; those of {@link #IB} may be. */
    public boolean isDatagram() {
        return this == UDP || this == IPOIB;
    }

    /**
     * The InfiniBand service ID of a port: {@code (port space << 16) + port}.
     *
     * @param port 0 to 65535
     */
    public long serviceId(int port) {
        return ((long) code << 16) + port;
    }
}
