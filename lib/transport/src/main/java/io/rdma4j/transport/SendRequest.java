package io.rdma4j.transport;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PlacementType;
import io.rdma4j.value.SelectivityLevel;
import io.rdma4j.value.SendOpcode;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A slot of a send queue: a send work request as stored by the queue pair. Filled by the posting thread, read by the
 * requester.
 */
public final class SendRequest {
    /** Work request ID assigned by the application. */
    public long workRequestId;

    /** Operation. */
    public SendOpcode opcode = SendOpcode.SEND;

    /** True to report success; failure is always reported. */
    public boolean signaled;

    /** True to request a solicited event at the peer. */
    public boolean solicited;

    /** True to wait until all earlier requests with a separate response are complete: READs, atomics, FLUSHes. */
    public boolean fence;

    /** Immediate data as a number in network byte order. */
    public int immediate;

    /** Key to invalidate: a key of the peer, or a local key for a local invalidation. */
    public int invalidateKey;

    /** Memory window to bind. */
    public @Nullable MemoryWindow window;

    /** Region to bind it to; null to unbind it. */
    public @Nullable MemoryRegion bindRegion;

    /** Offset of the window in the region, in bytes. */
    public long bindOffset;

    /** Length of the window, in bytes. */
    public long bindLength;

    /** Access rights of peers through the window, bits of {@link AccessFlag}. */
    public int bindAccess;

    /** For an extended connection, the number of the peer's shared receive queue. */
    public int remoteSharedReceiveQueue;

    /** Address at the peer. */
    public long remoteAddress;

    /** The peer's key; for a binding, the window's new key, of which the lower 8 bits are used. */
    public int remoteKey;

    /** Destination of a datagram; null for a connection. */
    @Nullable
    public DatagramDestination destination;

    /** For a datagram, the number of the peer's queue pair, 24 bits. */
    public int remoteQueuePair;

    /** For a datagram, the queue key of the peer's queue pair. If negative, the local queue key is sent. */
    public int queueKey;

    /** Value that a compare-and-swap compares with. */
    public long compare;

    /**
     * Value that a compare-and-swap or an ATOMIC WRITE stores, or a fetch-and-add adds. An ATOMIC WRITE carries its bytes in
     * native order.
     */
    public long swapOrAdd;

    /** Placement types of a FLUSH, bits of {@link PlacementType}. */
    public int flushPlacement;

    /** Selectivity level of a FLUSH, the number of a {@link SelectivityLevel}. */
    public int flushSelectivity;

    /** Number of bytes that a FLUSH of a range concerns. */
    public long flushBytes;

    /** True if the message is in {@link #inlineData} and the scatter/gather list is not used. */
    public boolean inline;

    /** Message of an inline request, copied when posted; its size is the queue's inline limit. */
    public final MemorySegment inlineData;

    /** Length of the message in bytes: the total of the list, or the inline bytes. */
    public long lengthBytes;

    /** Scatter/gather list of local memory. */
    public final ScatterGather list;

    /**
     * Sequence (64-bit extension of the PSN) of the first packet. Assigned by the requester when it starts the request.
     */
    long firstSequence;

    /** Number of packets of the message, or of the response to a READ. */
    int packets;

    /**
     * Start and end of the request in the byte count of the congestion window: the accumulated weight of all packets of
     * the queue pair. Assigned together with {@link #firstSequence}.
     */
    long firstByte;

    long endByte;

    /** Reason why the request cannot be sent, determined when it is started; null if it can. */
    @Nullable
    CompletionStatus failure;

    SendRequest(int maxScatterGather, MemorySegment inlineData) {
        this.inlineData = inlineData;
        this.list = new ScatterGather(maxScatterGather);
    }

    /** Resets every field except the inline bytes. */
    void clear() {
        workRequestId = 0;
        opcode = SendOpcode.SEND;
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
        flushPlacement = 0;
        flushSelectivity = 0;
        flushBytes = 0;
        inline = false;
        lengthBytes = 0;
        list.clear();
    }

    /** Returns the number of bytes that the completion reports: sent, read, exchanged, stored or flushed. */
    long completedBytes() {
        return switch (opcode) {
            case FLUSH -> flushBytes;
            case ATOMIC_WRITE -> Long.BYTES;
            default -> lengthBytes;
        };
    }

    /**
     * Returns whether the request is complete when everything before {@code acknowledged} is acknowledged. A failed
     * local request is never complete.
     */
    boolean isDone(long acknowledged) {
        return endSequence() <= acknowledged && (failure == null || packets > 0);
    }

    /** Returns the sequence after the last packet. */
    long endSequence() {
        return firstSequence + packets;
    }
}
