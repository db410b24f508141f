package io.rdma4j.transport;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import io.rdma4j.wire.Psn;
import io.rdma4j.wire.Reth;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The responder of an unreliable connection. Any FIRST or ONLY packet starts a message, regardless of its PSN. If a
 * later packet is missing or unacceptable, the message is dropped and its receive is kept. All further packets are then
 * dropped until another message starts.
 */
final class UcResponder {
    private static final int REMOTE_WRITE = AccessFlag.REMOTE_WRITE.bit();

    /** The kind of message that is partially received. */
    private enum Message {
        NONE,
        SEND,
        WRITE
    }

    private final UcQueuePair queuePair;
    private final MemoryTable memory;
    private final QueuePairCounters counters;
    private int mtu = 256;
    private int expectedPsn;
    private Message message = Message.NONE;
    private long receivedBytes;
    private long messageBytes;
    private @Nullable MemoryRegion region;
    private long regionOffset;

    UcResponder(UcQueuePair queuePair, MemoryTable memory) {
        this.queuePair = queuePair;
        this.memory = memory;
        counters = queuePair.counters();
    }

    /** Returns the PSN of the next packet if none is lost. */
    int expectedPsn() {
        return expectedPsn;
    }

    void start(int pathMtuBytes, int receivePsn) {
        mtu = pathMtuBytes;
        expectedPsn = receivePsn;
        clear();
    }

    private void clear() {
        message = Message.NONE;
        region = null;
    }

    /** Processes a packet. Returns whether it had an effect. */
    boolean onRequest(Packet packet) {
        Opcode opcode = packet.opcode();
        boolean isNext = packet.psn() == expectedPsn;
        if (!isNext) {
            counters.outOfSequenceRequests++;
        }
        expectedPsn = packet.psn() + 1 & Psn.MASK;
        if (opcode.isFirst()) {
            if (message != Message.NONE) {
                counters.droppedMessages++; // its last packet is missing
            }
            return begin(opcode, packet) && proceed(opcode, packet);
        }
        Message kind = opcode.isSend() ? Message.SEND : Message.WRITE;
        if (message == Message.NONE) { // its message has already been dropped
            return false;
        }
        return isNext && message == kind ? proceed(opcode, packet) : drop();
    }

    /** Drops the partially received message. */
    private boolean drop() {
        counters.droppedMessages++;
        clear();
        return false;
    }

    private boolean begin(Opcode opcode, Packet packet) {
        clear();
        receivedBytes = 0;
        if (opcode.isSend()) {
            message = Message.SEND;
            return true;
        }
        message = Message.WRITE;
        messageBytes = Responder.dmaLength(packet);
        if (!queuePair.peerMay(REMOTE_WRITE) || messageBytes > QueuePairMachine.MAX_MESSAGE_BYTES) {
            return drop();
        }
        if (messageBytes == 0) { // key and address of a zero-length request are not checked
            return true;
        }
        MemorySegment s = packet.segment();
        long at = packet.rethOffset();
        long address = Reth.address(s, at);
        region = memory.find(Reth.key(s, at), address, messageBytes, REMOTE_WRITE, queuePair);
        if (region == null) {
            counters.keyViolations++;
            return drop();
        }
        regionOffset = address - region.address();
        return true;
    }

    private boolean proceed(Opcode opcode, Packet packet) {
        if (!Responder.hasRightPad(packet) || !Responder.hasRightSize(packet, mtu)) {
            return drop();
        }
        return opcode.isSend() ? proceedSend(opcode, packet) : proceedWrite(opcode, packet);
    }

    private boolean proceedSend(Opcode opcode, Packet packet) {
        ReceiveRequest receive = queuePair.receives.current();
        int payload = packet.payloadLength();
        if (receive == null || payload > receive.list.totalBytes() - receivedBytes) {
            return drop();
        }
        boolean copied = LocalMemory.scatter(
                receive.list,
                queuePair.receives.protectionDomain(),
                receivedBytes,
                packet.payloadSegment(),
                packet.payloadOffset(),
                payload);
        if (!copied) {
            clear();
            queuePair.failReceive(receive, CompletionStatus.LOCAL_PROTECTION_ERROR);
            queuePair.failWith(null);
            return true;
        }
        receivedBytes += payload;
        if (opcode.isLast()) {
            clear();
            queuePair.completeReceive(receive, packet, receivedBytes);
        }
        return true;
    }

    private boolean proceedWrite(Opcode opcode, Packet packet) {
        int payload = packet.payloadLength();
        long left = messageBytes - receivedBytes;
        MemoryRegion target = memory.findAgain(region, REMOTE_WRITE, queuePair);
        boolean isExact = opcode.isLast() ? payload == left : payload < left;
        if (!isExact || region != null && !copy(target, packet, payload)) {
            return drop();
        }
        receivedBytes += payload;
        if (opcode.isLast()) {
            ReceiveRequest receive = opcode.hasImmediate() ? queuePair.receives.current() : null;
            if (opcode.hasImmediate() && receive == null) {
                return drop();
            }
            clear();
            if (receive != null) {
                queuePair.completeReceive(receive, packet, messageBytes);
            }
        }
        return true;
    }

    /** Copies the payload to the target region, unless it was deregistered or lost the right between two packets. */
    private boolean copy(@Nullable MemoryRegion target, Packet packet, int payload) {
        return target != null
                && LocalMemory.copy(
                        packet.payloadSegment(),
                        packet.payloadOffset(),
                        target.memory(),
                        regionOffset + receivedBytes,
                        payload);
    }
}
