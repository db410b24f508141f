package io.rdma4j.verbs.spi;

import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionStatus;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The fields of {@link io.rdma4j.verbs.WorkCompletion}, its only subclass. Programs read them by its methods, and providers
 * write them by {@link CompletionWriter}. Not thread safe.
 */
public abstract class CompletionFields {
    /** The application's number of the work request. */
    protected long id;

    /** The status. */
    protected CompletionStatus status = CompletionStatus.SUCCESS;

    /** The operation. */
    protected CompletionOpcode opcode = CompletionOpcode.SEND;

    /** Number of bytes received, read or written. */
    protected long byteLength;

    /** The number of the queue pair to which the work request was posted. */
    protected int queuePairNumber;

    /** True if {@link #immediateOrKey} is the peer's immediate data. */
    protected boolean hasImmediate;

    /** True if {@link #immediateOrKey} is the key that the peer invalidated. */
    protected boolean hasInvalidatedKey;

    /** The peer's immediate data, or the key that the peer invalidated. */
    protected int immediateOrKey;

    /** The number of the queue pair that sent a datagram, else 0. */
    protected int sourceQueuePairNumber;

    /** True if the receive begins with 40 bytes for the IP header. */
    protected boolean hasGlobalRoute;

    /** The service level of a datagram, or on RoCE the kind of its packet, else 0. */
    protected int serviceLevel;

    /** Time of completion in nanoseconds of {@link System#nanoTime} or of the device's clock. */
    protected long timestampNanos;

    /** Tells the time when {@link #timestampNanos} is first read, if that decides it; otherwise null. */
    protected @Nullable LongSupplier clock;

    /** Creates the fields of an empty holder. */
    protected CompletionFields() {}
}
