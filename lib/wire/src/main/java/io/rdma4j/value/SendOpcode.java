package io.rdma4j.value;

import java.util.Optional;

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
    /** Stores eight bytes at the peer atomically, after all earlier requests. */
    ATOMIC_WRITE(15);

    private static final CodeTable<SendOpcode> BY_CODE = new CodeTable<>(values(), SendOpcode::code);

    private final int code;

    SendOpcode(int code) {
        this.code = code;
    }

    /** Returns the numeric value of {@code ibv_wr_opcode}. */
    public int code() {
        return code;
    }

    /** Returns the constant with a numeric value of {@code ibv_wr_opcode}, or nothing if there is none. */
    public static Optional<SendOpcode> ofCode(int code) {
        return BY_CODE.get(code);
    }

    /** Returns whether the device executes the request alone and sends no packet: it concerns a memory window. */
    public boolean isLocal() {
        return this == BIND_MEMORY_WINDOW || this == LOCAL_INVALIDATE;
    }

    /** Returns whether the request changes eight bytes of the peer's memory and returns their old value. */
    public boolean isAtomic() {
        return this == COMPARE_AND_SWAP || this == FETCH_AND_ADD;
    }

    /** Returns whether the request carries local memory to the peer: a SEND or an RDMA WRITE of any kind. */
    public boolean carriesPayload() {
        return !needsResponse() && !isLocal();
    }

    /**
     * Returns whether the peer responds to this request in particular, so that no acknowledgement of a later one covers it. It
     * then uses one of the resources that the connection has for outstanding READs and atomic operations ({@code
     * QueuePairAttributes.maxReadAtomic}).
     */
    public boolean needsResponse() {
        return this == RDMA_READ || isAtomic() || this == FLUSH || this == ATOMIC_WRITE;
    }

    /**
     * Returns whether the request has local memory, which is sent or takes what the peer returns. A FLUSH returns nothing, and the
     * value of an ATOMIC WRITE is in the request.
     */
    public boolean hasLocalMemory() {
        return !isLocal() && this != FLUSH && this != ATOMIC_WRITE;
    }
}
