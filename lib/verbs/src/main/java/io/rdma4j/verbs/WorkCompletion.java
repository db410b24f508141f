package io.rdma4j.verbs;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.spi.CompletionAccess;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A work completion, in a reusable holder that {@link CompletionQueue#poll} fills. C: {@code struct ibv_wc}.
 *
 * <p>If {@link #status} is not {@link CompletionStatus#SUCCESS}, only {@link #id}, {@link #status} and
 * {@link #queuePairNumber} are valid. Not thread safe.
 */
public final class WorkCompletion {
    /** Writes the fields, for providers. */
    private static final class Access extends CompletionAccess {
        @Override
        protected void start(
                WorkCompletion completion,
                long id,
                CompletionStatus status,
                CompletionOpcode opcode,
                int queuePairNumber) {
            completion.id = id;
            // A comparison costs less than storing a reference, because of the garbage collector's write barrier.
            if (completion.status != status) {
                completion.status = status;
            }
            if (completion.opcode != opcode) {
                completion.opcode = opcode;
            }
            completion.queuePairNumber = queuePairNumber;
            completion.sourceQueuePairNumber = 0;
            completion.hasGlobalRoute = false;
            completion.serviceLevel = 0;
        }

        @Override
        protected void data(
                WorkCompletion completion,
                long byteLength,
                boolean hasImmediate,
                boolean hasInvalidatedKey,
                int immediateOrKey) {
            completion.byteLength = byteLength;
            completion.hasImmediate = hasImmediate;
            completion.hasInvalidatedKey = hasInvalidatedKey;
            completion.immediateOrKey = immediateOrKey;
        }

        @Override
        protected void source(
                WorkCompletion completion, int queuePairNumber, boolean hasGlobalRoute, int serviceLevel) {
            completion.sourceQueuePairNumber = queuePairNumber;
            completion.hasGlobalRoute = hasGlobalRoute;
            completion.serviceLevel = serviceLevel;
        }

        @Override
        protected void timestamp(WorkCompletion completion, long nanos) {
            completion.timestampNanos = nanos;
            if (completion.clock != null) {
                completion.clock = null;
            }
        }

        @Override
        @SuppressWarnings("ReferenceEquality") // a different object is stored even if it is equal
        protected void timestampOfFirstReading(WorkCompletion completion, LongSupplier clock) {
            if (completion.clock != clock) {
                completion.clock = clock;
            }
        }
    }

    static {
        CompletionAccess.provide(new Access());
    }

    private long id;
    private CompletionStatus status = CompletionStatus.SUCCESS;
    private CompletionOpcode opcode = CompletionOpcode.SEND;
    private long byteLength;
    private int queuePairNumber;
    private boolean hasImmediate;
    private boolean hasInvalidatedKey;

    /** The peer's immediate data, or the key that the peer invalidated. */
    private int immediateOrKey;

    private int sourceQueuePairNumber;
    private boolean hasGlobalRoute;
    private int serviceLevel;
    private long timestampNanos;

    /** The clock, if the first call of {@link #timestampNanos()} must read the time; otherwise null. */
    private @Nullable LongSupplier clock;

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

    /** Returns the number of bytes that were received or read, or that a WRITE with immediate data has written. */
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

    /** Returns the immediate data. Packets carry them in network byte order. */
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
     * Returns the number of the queue pair that sent the received datagram. For other work requests it is 0, or
     * undefined on hardware. C: {@code src_qp}.
     */
    public int sourceQueuePairNumber() {
        return sourceQueuePairNumber;
    }

    /**
     * Returns whether the receive starts with 40 bytes for the IP header. This is true for every RoCE datagram. {@link
     * #byteLength} includes them. C: {@code IBV_WC_GRH}.
     */
    public boolean hasGlobalRoute() {
        return hasGlobalRoute;
    }

    /**
     * Returns the service level of a datagram, otherwise 0. RoCE has no service levels. Several drivers of network
     * cards return the IP version here instead, and so does the software device: 2 for IPv4, 1 for IPv6. C: {@code sl}.
     */
    public int serviceLevel() {
        return serviceLevel;
    }

    /**
     * Returns the time of completion in nanoseconds of {@link System#nanoTime}. On hardware it is the time of the first
     * call of this method. In a queue that {@linkplain CompletionQueue#usesDeviceClock uses the device's clock}, it is
     * the time of completion in nanoseconds of that clock, which has an arbitrary origin and wraps to 0 after its
     * highest value. For a failure, this time is undefined. C: {@code ibv_wc_read_completion_ts} of an extended
     * completion queue.
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
