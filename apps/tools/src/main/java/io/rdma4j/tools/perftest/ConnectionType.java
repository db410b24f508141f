package io.rdma4j.tools.perftest;

import io.rdma4j.value.QueuePairType;

/** The transport of the measured queue pairs, by its name on the command line. */
enum ConnectionType {
    RC(QueuePairType.RELIABLE_CONNECTION),
    UC(QueuePairType.UNRELIABLE_CONNECTION),
    UD(QueuePairType.UNRELIABLE_DATAGRAM),
    /** Initiators have this type; targets have {@link QueuePairType#XRC_RECEIVE}. */
    XRC(QueuePairType.XRC_SEND);

    private final QueuePairType type;

    ConnectionType(QueuePairType type) {
        this.type = type;
    }

    QueuePairType type() {
        return type;
    }

    /** Returns whether lost packets are retransmitted. */
    boolean isReliable() {
        return this == RC || this == XRC;
    }
}
