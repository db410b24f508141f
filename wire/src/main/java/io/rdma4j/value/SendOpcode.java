package io.rdma4j.value;

/** The operation of a send work request. C: {@code enum ibv_wr_opcode}. */
public enum SendOpcode {
    /** Writes data to the peer's memory. */
    RDMA_WRITE(0),
    /** Writes data to the peer's memory, and delivers immediate data with one of its receives. */
    RDMA_WRITE_WITH_IMMEDIATE(1),
    /** Sends a message to one of the peer's receives. */
    SEND(2),
    /** Sends a message with immediate data to one of the peer's receives. */
    SEND_WITH_IMMEDIATE(3),
    /** Reads data from the peer's memory. */
    RDMA_READ(4),
    /** Replaces eight bytes at the peer if they are equal to a given value. */
    COMPARE_AND_SWAP(5),
    /** Adds to eight bytes at the peer. */
    FETCH_AND_ADD(6),
    /** Invalidates the key of a local memory window. Nothing is sent. */
    LOCAL_INVALIDATE(7),
    /** Binds a memory window to a part of a memory region. Nothing is sent. */
    BIND_MEMORY_WINDOW(8),
    /** Sends a message that also invalidates one of the peer's keys. */
    SEND_WITH_INVALIDATE(9),
    /** Makes what was written to the peer's memory visible to all, or persistent. */
    FLUSH(14),
    /** Stores eight bytes at the peer at once, after all earlier requests. */
    ATOMIC_WRITE(15);

    private final int code;

    SendOpcode(int code) {
        this.code = code;
    }

    /** Returns the numeric value of {@code ibv_wr_opcode}. */
    public int code() {
        return code;
    }
}
