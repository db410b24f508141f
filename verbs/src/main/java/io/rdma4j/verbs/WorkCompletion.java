package io.rdma4j.verbs;

import io.rdma4j.verbs.spi.CompletionFields;

/**
 * A work completion, in a reusable holder that {@link CompletionQueue#poll} fills. C: {@code struct ibv_wc}.
 *
 * <p>If {@link #status} is not {@link CompletionStatus#SUCCESS}, only {@link #id}, {@link #status} and
 * {@link #queuePairNumber} are valid. Not thread safe.
 */
public final class WorkCompletion extends CompletionFields {
    /** Creates an empty holder. */
    public WorkCompletion() {}

    /** Creates an array of {@code count} empty holders for {@link CompletionQueue#poll}. */
    public static WorkCompletion[] array(int count) {
        WorkCompletion[] array = new WorkCompletion[count];
        for (int i = 0; i < count; i++) {
            array[i] = new WorkCompletion();
        }
        return array;
    }

    /** Returns the application's number of the work request ({@code wr_id}). */
    public long id() {
        return id;
    }

    /** Returns the status. */
    public CompletionStatus status() {
        return status;
    }

    /** Returns whether the work request succeeded. */
    public boolean isSuccess() {
        return status == CompletionStatus.SUCCESS;
    }

    /** Returns the operation. */
    public CompletionOpcode opcode() {
        return opcode;
    }

    /** Returns the number of bytes received or read, or written by the RDMA WRITE that consumed the receive. */
    public long byteLength() {
        return byteLength;
    }

    /** Returns the number of the queue pair to which the work request was posted. */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /** Returns whether the peer sent immediate data ({@code IBV_WC_WITH_IMM}). */
    public boolean hasImmediate() {
        return hasImmediate;
    }

    /** Returns the immediate data. On the wire they are in network order. */
    public int immediate() {
        return immediateOrKey;
    }

    /** Returns whether the peer invalidated a key ({@code IBV_WC_WITH_INV}). */
    public boolean hasInvalidatedKey() {
        return hasInvalidatedKey;
    }

    /** Returns the key that the peer invalidated. */
    public int invalidatedKey() {
        return immediateOrKey;
    }

    /**
     * Returns the number of the sending queue pair for the receive of a datagram. For other work requests it is 0, or with
     * hardware undefined. C: {@code src_qp}.
     */
    public int sourceQueuePairNumber() {
        return sourceQueuePairNumber;
    }

    /**
     * Returns whether the receive starts with 40 bytes for the IP header, as for every datagram of RoCE. {@link #byteLength}
     * includes them. C: {@code IBV_WC_GRH}.
     */
    public boolean hasGlobalRoute() {
        return hasGlobalRoute;
    }

    /**
     * Returns the service level of a datagram, else 0. RoCE has no service levels, and several drivers of network cards return here
     * whether the packet was of IPv4. So does the software device: 2 for a packet of IPv4, and 1 for one of IPv6. C: {@code sl}.
     */
    public int serviceLevel() {
        return serviceLevel;
    }

    /**
     * Returns the time of completion in nanoseconds of {@link System#nanoTime}; with hardware the time of the first call of this
     * method. In a queue that {@linkplain CompletionQueue#usesDeviceClock uses the device's clock} it is the time of completion in
     * nanoseconds of that clock, which begins anywhere and starts again from 0 after its highest value; for a failure it is
     * without a meaning. C: {@code ibv_wc_read_completion_ts} of an extended completion queue.
     */
    public long timestampNanos() {
        if (clock != null) {
            timestampNanos = clock.getAsLong();
            clock = null;
        }
        return timestampNanos;
    }

    @Override
    public String toString() {
        return "work request %d: %s %s, %d bytes, queue pair 0x%06x"
                .formatted(id, opcode, status, byteLength, queuePairNumber);
    }
}
