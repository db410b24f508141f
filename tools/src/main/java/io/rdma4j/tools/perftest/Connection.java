package io.rdma4j.tools.perftest;

import io.rdma4j.verbs.QueuePairType;

/** Transport of the queue pairs that are measured, by its name on the command line. */
enum Connection {
    RC(QueuePairType.RELIABLE_CONNECTION),
    UC(QueuePairType.UNRELIABLE_CONNECTION),
    UD(QueuePairType.UNRELIABLE_DATAGRAM);

    private final QueuePairType type;

    Connection(QueuePairType type) {
        this.type = type;
    }

    QueuePairType type() {
        return type;
    }
}
