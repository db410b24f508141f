package io.rdma4j.transport;

/**
 * One finished work request, in a holder that is filled anew for each: a sink copies what it keeps. When
 * {@link #status} is not a success only {@link #workRequestId}, {@link #queuePairNumber} and {@link #isReceive} mean
 * something.
 */
public final class Completion {
    /** Number that the application gave to the work request. */
    public long workRequestId;

    /** How the work request ended. */
    public WorkStatus status = WorkStatus.SUCCESS;

    /** Queue pair that the work request was posted to. */
    public int queuePairNumber;

    /** Whether this was a receive; else it was of the kind {@link #opcode}. */
    public boolean isReceive;

    /** Kind of the send work request; without meaning for a receive. */
    public WorkOpcode opcode = WorkOpcode.SEND;

    /** For a receive: whether it was taken by an RDMA WRITE with immediate data, which placed no data in it. */
    public boolean isReceiveOfWrite;

    /** Bytes received, read, or exchanged; for a receive of a WRITE the bytes of the WRITE. */
    public long byteLength;

    /** Whether {@link #immediate} holds the peer's immediate data. */
    public boolean hasImmediate;

    /** The immediate data as a number in network order. */
    public int immediate;

    /** Whether {@link #invalidatedKey} holds a key that the peer took back. */
    public boolean hasInvalidatedKey;

    /** The key that the peer took back. */
    public int invalidatedKey;

    /** For a datagram: number of the queue pair that sent it, 24 bits; else 0. */
    public int sourceQueuePair;

    /** Whether the receive begins with the header of the IP packet, as that of every datagram does. */
    public boolean hasRouteHeader;

    /** Whether the peer asked for a solicited event; always true of an unsuccessful completion. */
    public boolean solicited;

    /**
     * Set by a sink that could not keep the completion. The queue pair then fails: what it reports cannot be relied on any
     * more, and the peer must not take for delivered what nobody here is told of.
     */
    public boolean isLost;

    /** Creates an empty holder. */
    public Completion() {}
}
