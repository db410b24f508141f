package io.rdma4j.verbs.spi;

import io.rdma4j.verbs.QueuePairAttributes;

/** Writes what only the result of {@link io.rdma4j.verbs.QueuePair#query} has. For providers. */
public final class QueuePairQueryWriter {
    private QueuePairQueryWriter() {}

    /** Writes whether the send queue is still draining. */
    public static void draining(QueuePairAttributes result, boolean value) {
        QueuePairQueryFields fields = result;
        fields.draining = value;
    }
}
