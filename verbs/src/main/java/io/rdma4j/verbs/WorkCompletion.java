package io.rdma4j.verbs;

/**
 * One finished work request, in a reusable holder that {@link CompletionQueue#poll} fills. C: {@code struct ibv_wc}.
 *
 * <p>When {@link #status} is not {@link CompletionStatus#SUCCESS} only {@link #id}, {@link #status} and
 * {@link #queuePairNumber} mean something. Not thread safe.
 */
public final class WorkCompletion {
    private long id;
    private CompletionStatus status = CompletionStatus.SUCCESS;
    private CompletionOpcode opcode = CompletionOpcode.SEND;
    private long byteLength;
    private int queuePairNumber;
    private boolean hasImmediate;
    private boolean hasInvalidatedKey;
    private int immediateOrKey;
    private int sourceQueuePairNumber;
    private boolean hasGlobalRoute;
    private long timestampNanos;

    /** Creates an empty holder. */
    public WorkCompletion() {}

    /** An array of {@code count} empty holders for {@link CompletionQueue#poll}. */
    public static WorkCompletion[] array(int count) {
        WorkCompletion[] array = new WorkCompletion[count];
        for (int i = 0; i < count; i++) {
            array[i] = new WorkCompletion();
        }
        return array;
    }

    /** Fills the holder; for providers. {@code immediateOrKey} is the one that the two flags say. */
    public void set(
            long newId,
            CompletionStatus newStatus,
            CompletionOpcode newOpcode,
            long newByteLength,
            int newQueuePairNumber,
            boolean newHasImmediate,
            boolean newHasInvalidatedKey,
            int newImmediateOrKey) {
        id = newId;
        status = newStatus;
        opcode = newOpcode;
        byteLength = newByteLength;
        queuePairNumber = newQueuePairNumber;
        hasImmediate = newHasImmediate;
        hasInvalidatedKey = newHasInvalidatedKey;
        immediateOrKey = newImmediateOrKey;
        sourceQueuePairNumber = 0;
        hasGlobalRoute = false;
    }

    /** Says where a datagram came from; for providers, after {@link #set}. */
    public void setSource(int queuePairNumber, boolean isRouteInReceive) {
        sourceQueuePairNumber = queuePairNumber;
        hasGlobalRoute = isRouteInReceive;
    }

    /** Sets when the work request ended; for providers. */
    public void setTimestamp(long nanos) {
        timestampNanos = nanos;
    }

    /** Number that the application gave to the work request ({@code wr_id}). */
    public long id() {
        return id;
    }

    /** How it ended. */
    public CompletionStatus status() {
        return status;
    }

    /** Whether it ended well. */
    public boolean isSuccess() {
        return status == CompletionStatus.SUCCESS;
    }

    /** What it was. */
    public CompletionOpcode opcode() {
        return opcode;
    }

    /** Bytes received or read; for a receive taken by an RDMA WRITE the bytes written. */
    public long byteLength() {
        return byteLength;
    }

    /** Queue pair that it was posted to. */
    public int queuePairNumber() {
        return queuePairNumber;
    }

    /** Whether the peer sent immediate data ({@code IBV_WC_WITH_IMM}). */
    public boolean hasImmediate() {
        return hasImmediate;
    }

    /** The immediate data, as a number whose network order is what went over the wire. */
    public int immediate() {
        return immediateOrKey;
    }

    /** Whether the peer took back a key ({@code IBV_WC_WITH_INV}). */
    public boolean hasInvalidatedKey() {
        return hasInvalidatedKey;
    }

    /** The key that the peer took back. */
    public int invalidatedKey() {
        return immediateOrKey;
    }

    /** For the receive of a datagram: number of the queue pair that sent it; else 0. C: {@code src_qp}. */
    public int sourceQueuePairNumber() {
        return sourceQueuePairNumber;
    }

    /**
     * Whether the receive begins with 40 bytes for the header of the IP packet, as that of every datagram does; they count
     * in {@link #byteLength}. C: {@code IBV_WC_GRH}.
     */
    public boolean hasGlobalRoute() {
        return hasGlobalRoute;
    }

    /**
     * When the work request ended, in nanoseconds of {@link System#nanoTime}. C: {@code ibv_wc_read_completion_ts} of an
     * extended completion queue.
     */
    public long timestampNanos() {
        return timestampNanos;
    }

    @Override
    public String toString() {
        return "work request %d: %s %s, %d bytes, queue pair 0x%06x"
                .formatted(id, opcode, status, byteLength, queuePairNumber);
    }
}
