package io.rdma4j.verbs;

/** What a send work request does. C: {@code enum ibv_wr_opcode}. */
public enum SendOpcode {
    /** Data into the peer's memory. */
    RDMA_WRITE(0),
    /** Data into the peer's memory, and immediate data into one of its receives. */
    RDMA_WRITE_WITH_IMMEDIATE(1),
    /** Message into one of the peer's receives. */
    SEND(2),
    /** Message with immediate data into one of the peer's receives. */
    SEND_WITH_IMMEDIATE(3),
    /** Data out of the peer's memory. */
    RDMA_READ(4),
    /** Exchange of eight bytes at the peer if they equal a given value. */
    COMPARE_AND_SWAP(5),
    /** Addition to eight bytes at the peer. */
    FETCH_AND_ADD(6),
    /** The key of an own memory window is taken back; nothing is sent. */
    LOCAL_INVALIDATE(7),
    /** A memory window gets a part of a memory region; nothing is sent. */
    BIND_MEMORY_WINDOW(8),
    /** Message that also takes back one of the peer's keys. */
    SEND_WITH_INVALIDATE(9);

    private final int code;

    SendOpcode(int code) {
        this.code = code;
    }

    /** The number of {@code ibv_wr_opcode}. */
    public int code() {
        return code;
    }
}
