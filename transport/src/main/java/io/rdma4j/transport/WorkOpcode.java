package io.rdma4j.transport;

/** What a send work request does. */
public enum WorkOpcode {
    /** Message into a receive of the peer. */
    SEND,
    /** Message with four bytes of immediate data into a receive of the peer. */
    SEND_WITH_IMMEDIATE,
    /** Message that also takes back one of the peer's keys. */
    SEND_WITH_INVALIDATE,
    /** Data into the peer's memory. */
    RDMA_WRITE,
    /** Data into the peer's memory, and four bytes of immediate data into a receive of the peer. */
    RDMA_WRITE_WITH_IMMEDIATE,
    /** Data out of the peer's memory. */
    RDMA_READ,
    /** Exchanges eight bytes of the peer's memory if they equal a given value. */
    COMPARE_AND_SWAP,
    /** Adds to eight bytes of the peer's memory. */
    FETCH_AND_ADD,
    /** Gives a memory window a range of a memory region; nothing is sent. */
    BIND_MEMORY_WINDOW,
    /** Takes the key of an own memory window back; nothing is sent. */
    LOCAL_INVALIDATE;

    /** Whether the request carries the sender's bytes to the peer. */
    public boolean carriesPayload() {
        return !isReadOrAtomic() && !isLocal();
    }

    /** Whether the request concerns the own device only: no packet belongs to it. */
    public boolean isLocal() {
        return this == BIND_MEMORY_WINDOW || this == LOCAL_INVALIDATE;
    }

    /** Whether the request is of the atomic kind. */
    public boolean isAtomic() {
        return this == COMPARE_AND_SWAP || this == FETCH_AND_ADD;
    }

    /** Whether the peer answers with data, and so spends one of its READ and atomic resources. */
    public boolean isReadOrAtomic() {
        return this == RDMA_READ || isAtomic();
    }
}
