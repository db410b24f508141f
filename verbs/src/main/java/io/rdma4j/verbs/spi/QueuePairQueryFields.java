package io.rdma4j.verbs.spi;

/**
 * The field of {@link io.rdma4j.verbs.QueuePairAttributes}, its only subclass, that only the result of a query has. Programs
 * read it by its method, and providers write it by {@link QueuePairQueryWriter}. Not thread safe.
 */
public abstract class QueuePairQueryFields {
    /** True if the send queue is still draining. */
    protected boolean draining;

    /** Creates the field of new attributes. */
    protected QueuePairQueryFields() {}
}
