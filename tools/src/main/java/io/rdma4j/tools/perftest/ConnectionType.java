package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.QueuePairType;

/** The transport of the measured queue pairs, by its name on the command line. */
enum ConnectionType {
    RC(QueuePairType.RELIABLE_CONNECTION),
    UC(QueuePairType.UNRELIABLE_CONNECTION),
    UD(QueuePairType.UNRELIABLE_DATAGRAM);

    private final QueuePairType type;

    ConnectionType(QueuePairType type) {
        this.type = type;
    }

    QueuePairType type() {
        return type;
    }
}
