package io.rdma4j.transport;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * One place of a send queue: a send work request as the queue pair keeps it. Filled by who posts, read by the requester.
 */
public final class SendRequest {
    /** Number that the application gave. */
    public long workRequestId;

    /** What to do. */
    public WorkOpcode opcode = WorkOpcode.SEND;

    /** Whether success is to be reported; failure always is. */
    public boolean signaled;

    /** Whether the peer is asked for a solicited event. */
    public boolean solicited;

    /** Whether to wait until all earlier READs and atomics are done. */
    public boolean fence;

    /** Immediate data as a number in network order. */
    public int immediate;

    /** Key to take back: the peer's, or the own of a local invalidation. */
    public int invalidateKey;

    /** Memory window to bind. */
    public @Nullable MemoryWindow window;

    /** Region to bind it to; null to leave the window without one. */
    public @Nullable MemoryRegion bindRegion;

    /** Where the window begins in the region, in bytes. */
    public long bindOffset;

    /** Bytes of the window. */
    public long bindLength;

    /** What peers may do through the window, bits of {@link AccessFlags}. */
    public int bindAccess;

    /** Of an extended connection: number of the peer's shared receive queue. */
    public int remoteSharedReceiveQueue;

    /** Where at the peer. */
    public long remoteAddress;

    /** Under which key of the peer; of a binding, the window's new key, of which the lower 8 bits count. */
    public int remoteKey;

    /** For a datagram: where it goes; null in a request of a connection. */
    @Nullable
    public DatagramDestination destination;

    /** For a datagram: number of the peer's queue pair, 24 bits. */
    public int remoteQueuePair;

    /** For a datagram: key of the peer's queue pair; negative for the own key. */
    public int queueKey;

    /** What a compare-and-swap compares with. */
    public long compare;

    /** What a compare-and-swap stores, or a fetch-and-add adds. */
    public long swapOrAdd;

    /** Whether the message is in {@link #inlineData} and there is no scatter/gather list. */
    public boolean inline;

    /** The message of an inline request, copied when it was posted; holds the queue's inline size. */
    public final MemorySegment inlineData;

    /** Bytes of the message: the sum of the list, or the inline bytes. */
    public long lengthBytes;

    /** Local memory, piece by piece. */
    public final ScatterGather list;

    /** Sequence of the first packet: PSNs continued to 64 bits. Set by the requester when the request's turn comes. */
    long firstSequence;

    /** Packets of the message, or of the answer to a READ. */
    int packets;

    /**
     * Where the request begins and ends on the scale that the congestion window is measured on: bytes that all packets of
     * the queue pair so far count. Set with {@link #firstSequence}.
     */
    long firstByte;

    long endByte;

    /** Why the request cannot be sent, found when its turn came; null if it can. */
    @Nullable
    WorkStatus failure;

    SendRequest(int maxScatterGather, MemorySegment inlineData) {
        this.inlineData = inlineData;
        this.list = new ScatterGather(maxScatterGather);
    }

    /** Sets every field as in a new request, inline bytes excepted. */
    void clear() {
        workRequestId = 0;
        opcode = WorkOpcode.SEND;
        signaled = false;
        solicited = false;
        fence = false;
        immediate = 0;
        invalidateKey = 0;
        window = null;
        bindRegion = null;
        bindOffset = 0;
        bindLength = 0;
        bindAccess = 0;
        remoteSharedReceiveQueue = 0;
        remoteAddress = 0;
        remoteKey = 0;
        destination = null;
        remoteQueuePair = 0;
        queueKey = 0;
        compare = 0;
        swapOrAdd = 0;
        inline = false;
        lengthBytes = 0;
        list.clear();
    }

    /**
     * Whether nothing is left to do when all before a sequence is acknowledged; a local request that failed is never done.
     */
    boolean isDone(long acknowledged) {
        return endSequence() <= acknowledged && (failure == null || packets > 0);
    }

    /** Sequence behind the last packet. */
    long endSequence() {
        return firstSequence + packets;
    }
}
