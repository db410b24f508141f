package io.rdma4j.verbs;

/** The operation of a completed work request. C: {@code enum ibv_wc_opcode}. */
public enum CompletionOpcode {
    /** A SEND of any kind. */
    SEND(0),
    /** An RDMA WRITE, with or without immediate data. */
    RDMA_WRITE(1),
    /** An RDMA READ. */
    RDMA_READ(2),
    /** An atomic compare and swap. */
    COMPARE_AND_SWAP(3),
    /** An atomic fetch and add. */
    FETCH_AND_ADD(4),
    /** A binding of a memory window. */
    BIND_MEMORY_WINDOW(5),
    /** A local invalidation. */
    LOCAL_INVALIDATE(6),
    /** A FLUSH. */
    FLUSH(8),
    /** An ATOMIC WRITE. */
    ATOMIC_WRITE(9),
    /** A receive consumed by a SEND. */
    RECEIVE(128),
    /** A receive consumed by an RDMA WRITE with immediate data. The data are at the address that the peer chose. */
    RECEIVE_RDMA_WITH_IMMEDIATE(129);

    private final int code;

    CompletionOpcode(int code) {
        this.code = code;
    }

    /** Returns the numeric value of {@code ibv_wc_opcode}. */
    public int code() {
        return code;
    }

    /** Returns whether this is a receive. */
    public boolean isReceive() {
        return code >= 128;
    }
}
