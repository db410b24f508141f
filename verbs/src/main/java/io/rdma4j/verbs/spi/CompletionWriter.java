package io.rdma4j.verbs.spi;

import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.WorkCompletion;

/**
 * Writes the holders that a program passes to {@link io.rdma4j.verbs.CompletionQueue#poll}. For providers. Allocates nothing.
 *
 * <p>{@link #start} comes first and clears the rest. Not thread safe, as the holders are not.
 */
public final class CompletionWriter {
    private CompletionWriter() {}

    /**
     * Writes what is valid in every completion, also in that of a failure, and clears the rest.
     *
     * @param completion the holder
     * @param id the application's number of the work request
     * @param status the status
     * @param queuePairNumber the number of the queue pair to which the request was posted
     */
    public static void start(WorkCompletion completion, long id, CompletionStatus status, int queuePairNumber) {
        CompletionFields fields = completion;
        fields.id = id;
        fields.status = status;
        fields.queuePairNumber = queuePairNumber;
        fields.opcode = CompletionOpcode.SEND;
        fields.byteLength = 0;
        fields.hasImmediate = false;
        fields.hasInvalidatedKey = false;
        fields.immediateOrKey = 0;
        fields.sourceQueuePairNumber = 0;
        fields.hasGlobalRoute = false;
        fields.timestampNanos = 0;
    }

    /**
     * Writes the operation and its length.
     *
     * @param completion the holder
     * @param opcode the operation
     * @param byteLength number of bytes received, read or written
     */
    public static void operation(WorkCompletion completion, CompletionOpcode opcode, long byteLength) {
        CompletionFields fields = completion;
        fields.opcode = opcode;
        fields.byteLength = byteLength;
    }

    /** Writes the immediate data of the peer. */
    public static void immediate(WorkCompletion completion, int data) {
        CompletionFields fields = completion;
        fields.hasImmediate = true;
        fields.immediateOrKey = data;
    }

    /** Writes the key that the peer has invalidated. */
    public static void invalidatedKey(WorkCompletion completion, int key) {
        CompletionFields fields = completion;
        fields.hasInvalidatedKey = true;
        fields.immediateOrKey = key;
    }

    /**
     * Writes the number of the queue pair that sent a datagram. The receive begins with 40 bytes for the IP header, which
     * the length includes.
     */
    public static void source(WorkCompletion completion, int queuePairNumber) {
        CompletionFields fields = completion;
        fields.sourceQueuePairNumber = queuePairNumber;
        fields.hasGlobalRoute = true;
    }

    /** Writes the time of completion, in nanoseconds of {@link System#nanoTime}. */
    public static void timestamp(WorkCompletion completion, long nanos) {
        CompletionFields fields = completion;
        fields.timestampNanos = nanos;
    }
}
