package io.rdma4j.transport;

/** The operation of a send work request. */
public enum WorkOpcode {
    /** Sends a message to a receive of the peer. */
    SEND,
    /** Sends a message with four bytes of immediate data to a receive of the peer. */
    SEND_WITH_IMMEDIATE,
    /** Sends a message that also invalidates one of the peer's keys. */
    SEND_WITH_INVALIDATE,
    /** Writes to the peer's memory. */
    RDMA_WRITE,
    /** Writes to the peer's memory, and sends four bytes of immediate data to a receive of the peer. */
    RDMA_WRITE_WITH_IMMEDIATE,
    /** Reads from the peer's memory. */
    RDMA_READ,
    /** Exchanges eight bytes of the peer's memory if they equal a given value. */
    COMPARE_AND_SWAP,
    /** Adds to eight bytes of the peer's memory. */
    FETCH_AND_ADD,
    /** Makes what was written to the peer's memory visible to all, or persistent. */
    FLUSH,
    /** Stores eight bytes of the peer's memory at once, after all earlier requests. */
    ATOMIC_WRITE,
    /** Binds a memory window to a range of a memory region; local, sends no packet. */
    BIND_MEMORY_WINDOW,
    /** Invalidates the key of a local memory window; sends no packet. */
    LOCAL_INVALIDATE;

    /** Returns whether the request carries local memory to the peer. */
    public boolean carriesPayload() {
        return !needsResponse() && !isLocal();
    }

    /** Returns whether the request is executed by the local device and sends no packet. */
    public boolean isLocal() {
        return this == BIND_MEMORY_WINDOW || this == LOCAL_INVALIDATE;
    }

    /** Returns whether the request is an atomic operation that returns the old value. */
    public boolean isAtomic() {
        return this == COMPARE_AND_SWAP || this == FETCH_AND_ADD;
    }

    /**
     * Returns whether the peer responds to this request in particular, so that no acknowledgement of a later one covers it,
     * and thus uses one of its READ and atomic resources.
     */
    public boolean needsResponse() {
        return this == RDMA_READ || isAtomic() || isAnsweredEmpty();
    }

    /** Returns whether the response is that to a READ of no bytes. */
    public boolean isAnsweredEmpty() {
        return this == FLUSH || this == ATOMIC_WRITE;
    }
}
