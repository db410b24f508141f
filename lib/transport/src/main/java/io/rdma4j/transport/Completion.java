package io.rdma4j.transport;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;

/**
 * A work completion in a reused holder; a sink copies what it keeps. If {@link #status} is not a success, only
 * {@link #workRequestId}, {@link #queuePairNumber} and {@link #isReceive} are meaningful.
 */
public final class Completion {
    /** Work request ID assigned by the application. */
    public long workRequestId;

    /** Final status of the work request. */
    public CompletionStatus status = CompletionStatus.SUCCESS;

    /** Number of the queue pair that the work request was posted to. */
    public int queuePairNumber;

    /** True for a receive; false for an operation of kind {@link #opcode}. */
    public boolean isReceive;

    /** Operation of a send work request; meaningless for a receive. */
    public SendOpcode opcode = SendOpcode.SEND;

    /** True if the receive was consumed by an RDMA WRITE with immediate data, which places no data in it. */
    public boolean isReceiveOfWrite;

    /** Bytes received, read or exchanged; for a receive of a WRITE, the bytes of the WRITE. */
    public long byteLength;

    /** True if {@link #immediate} holds the peer's immediate data. */
    public boolean hasImmediate;

    /** Immediate data as a number in network byte order. */
    public int immediate;

    /** True if {@link #invalidatedKey} holds a key that the peer invalidated. */
    public boolean hasInvalidatedKey;

    /** Key that the peer invalidated. */
    public int invalidatedKey;

    /** For a datagram, the number of the sending queue pair, 24 bits; otherwise 0. */
    public int sourceQueuePair;

    /** True if the receive begins with the header of the IP packet, as for every datagram. */
    public boolean hasRouteHeader;

    /** True if that is a header of IPv4, and not of IPv6. */
    public boolean hasIpv4Header;

    /** True if the peer requested a solicited event; always true for an unsuccessful completion. */
    public boolean solicited;

    /**
     * Set by a sink that could not store the completion. The queue pair then fails: its completions are no longer
     * reliable, and the peer must not consider a message delivered that is not reported here.
     */
    public boolean isLost;

    /** Creates an empty holder. */
    public Completion() {}

    /** Sets the result of a work request and clears all other fields. */
    void clear(int number, long id, CompletionStatus result, boolean ofReceive) {
        queuePairNumber = number;
        workRequestId = id;
        status = result;
        isReceive = ofReceive;
        isReceiveOfWrite = false;
        byteLength = 0;
        hasImmediate = false;
        immediate = 0;
        hasInvalidatedKey = false;
        invalidatedKey = 0;
        sourceQueuePair = 0;
        hasRouteHeader = false;
        hasIpv4Header = false;
        solicited = result != CompletionStatus.SUCCESS;
        isLost = false;
    }

    /** Sets the fields of a successful receive whose message ended with a packet. */
    void setReceived(Packet packet, long bytes) {
        Opcode opcode = packet.opcode();
        isReceiveOfWrite = opcode.isWrite();
        byteLength = bytes;
        solicited = packet.solicited();
        if (opcode.hasImmediate()) {
            hasImmediate = true;
            immediate = packet.immediate();
        }
        if (opcode.hasIeth()) {
            hasInvalidatedKey = true;
            invalidatedKey = packet.invalidateKey();
        }
        if (opcode.hasDeth()) {
            hasRouteHeader = true;
            hasIpv4Header = packet.frame().isIpv4();
            sourceQueuePair = Deth.sourceQueuePair(packet.segment(), packet.dethOffset());
        }
    }
}
