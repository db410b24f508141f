package io.rdma4j.verbs.spi;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.WorkCompletion;
import java.util.function.LongSupplier;

/**
 * Writes the holders that a program passes to {@link io.rdma4j.verbs.CompletionQueue#poll}. For providers. Allocates
 * nothing. Not thread safe, like the holders.
 *
 * <p>Every completion needs {@link #start}, {@link #data}, and a time by {@link #timestamp} or {@link
 * #timestampOfFirstReading}. The receive of a datagram also needs {@link #source}, after {@link #start}.
 */
public final class CompletionWriter {
    /** A constant, so that the compilers can inline the calls. */
    private static final CompletionAccess ACCESS = CompletionAccess.get();

    private CompletionWriter() {}

    /**
     * Writes the request, its result and the queue pair, and clears the source.
     *
     * @param completion the holder
     * @param id the application's number of the work request
     * @param status the status
     * @param opcode the operation, undefined for a failure
     * @param queuePairNumber the number of the queue pair to which the request was posted
     */
    public static void start(
            WorkCompletion completion, long id, CompletionStatus status, CompletionOpcode opcode, int queuePairNumber) {
        ACCESS.start(completion, id, status, opcode, queuePairNumber);
    }

    /**
     * Writes the data of the completion.
     *
     * @param completion the holder
     * @param byteLength number of received, read or written bytes
     * @param hasImmediate true if {@code immediateOrKey} is the peer's immediate data
     * @param hasInvalidatedKey true if {@code immediateOrKey} is the key that the peer has invalidated
     * @param immediateOrKey the immediate data or the key; undefined if the completion has neither
     */
    public static void data(
            WorkCompletion completion,
            long byteLength,
            boolean hasImmediate,
            boolean hasInvalidatedKey,
            int immediateOrKey) {
        ACCESS.data(completion, byteLength, hasImmediate, hasInvalidatedKey, immediateOrKey);
    }

    /**
     * Writes the source of a datagram.
     *
     * @param completion the holder
     * @param queuePairNumber the number of the queue pair that sent the datagram
     * @param hasGlobalRoute true if the receive starts with 40 bytes for the IP header, which the length includes.
     *     Every RoCE device writes them. Other devices, such as EFA, may not
     * @param serviceLevel the value for {@link WorkCompletion#serviceLevel}
     */
    public static void source(
            WorkCompletion completion, int queuePairNumber, boolean hasGlobalRoute, int serviceLevel) {
        ACCESS.source(completion, queuePairNumber, hasGlobalRoute, serviceLevel);
    }

    /** Writes the time of completion, in nanoseconds of {@link System#nanoTime} or of the device's clock. */
    public static void timestamp(WorkCompletion completion, long nanos) {
        ACCESS.timestamp(completion, nanos);
    }

    /**
     * Sets the time of completion to the time at which the program first requests it. A provider without times of
     * completion uses this, since reading a clock can take longer than polling a device.
     *
     * @param completion the holder
     * @param clock returns the time in nanoseconds of {@link System#nanoTime}; should always be the same object
     */
    public static void timestampOfFirstReading(WorkCompletion completion, LongSupplier clock) {
        ACCESS.timestampOfFirstReading(completion, clock);
    }
}
