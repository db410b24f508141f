package io.rdma4j.transport;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Ieth;
import io.rdma4j.wire.ImmDt;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Reth;
import io.rdma4j.wire.XrcEth;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Writes the packets of SEND and RDMA WRITE, for reliable and unreliable connections. Decision 021 explains why it
 * copies the payload.
 */
final class PayloadPackets {
    private PayloadPackets() {}

    /**
     * Writes one packet of a message with its payload and padding.
     *
     * @param r the work request
     * @param protectionDomain domain that its memory must belong to
     * @param index index of the packet in the message, from 0
     * @param mtu payload bytes of a full packet
     * @param opcode opcode of the packet
     * @param peer number of the peer's queue pair
     * @param requestsAck {@code true} to request an acknowledgement
     * @param psn packet sequence number, of which the lower 24 bits are used
     * @return bytes written, or 0 if the memory cannot be accessed
     */
    static int write(
            SendRequest r,
            int protectionDomain,
            int index,
            int mtu,
            Opcode opcode,
            int peer,
            boolean requestsAck,
            int psn,
            MemorySegment out,
            long at) {
        long from = (long) index * mtu;
        int length = (int) Math.min(mtu, r.lengthBytes - from);
        long payloadAt = at + opcode.headerLength();
        if (!gather(r, protectionDomain, from, length, out, payloadAt)) {
            return 0;
        }
        boolean solicited = r.solicited && opcode.isLast() && r.opcode != SendOpcode.RDMA_WRITE;
        int pad = -length & 3;
        Bth.write(out, at, opcode.code(), solicited, pad, QueuePairMachine.PARTITION_KEY, peer, requestsAck, psn);
        if (opcode.hasXrcEth()) {
            XrcEth.write(out, at + Bth.LENGTH, r.remoteSharedReceiveQueue);
        }
        if (opcode.hasReth()) {
            Reth.write(out, at + opcode.extensionOffset(), r.remoteAddress, r.remoteKey, (int) r.lengthBytes);
        }
        if (opcode.hasImmediate()) {
            ImmDt.write(out, payloadAt - ImmDt.LENGTH, r.immediate);
        } else if (opcode.hasIeth()) {
            Ieth.write(out, payloadAt - Ieth.LENGTH, r.invalidateKey);
        }
        Padding.clear(out, payloadAt + length, pad);
        return opcode.headerLength() + length + pad;
    }

    /** Copies a part of a work request's message to a packet. Returns false if its memory cannot be accessed. */
    static boolean gather(SendRequest r, int protectionDomain, long from, int length, MemorySegment out, long at) {
        return r.inline
                ? LocalMemory.copy(r.inlineData, from, out, at, length)
                : LocalMemory.gather(r.list, protectionDomain, from, length, out, at);
    }

    /** Returns the number of packets of a message. */
    static int count(SendRequest r, int mtu) {
        return (int) Math.max(1, (Math.min(r.lengthBytes, QueuePairMachine.MAX_MESSAGE_BYTES) + mtu - 1) / mtu);
    }

    /** Checks a work request's length and memory. Returns null if they are valid, otherwise the error status. */
    static @Nullable CompletionStatus checkMemory(SendRequest r, int protectionDomain, int access) {
        if (r.inline) {
            return r.lengthBytes <= r.inlineData.byteSize() ? null : CompletionStatus.LOCAL_LENGTH_ERROR;
        }
        if (r.list.totalBytes() != r.lengthBytes) {
            return CompletionStatus.LOCAL_LENGTH_ERROR;
        }
        return LocalMemory.isUsable(r.list, protectionDomain, access) ? null : CompletionStatus.LOCAL_PROTECTION_ERROR;
    }
}
