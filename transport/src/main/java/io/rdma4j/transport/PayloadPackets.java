package io.rdma4j.transport;

import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Ieth;
import io.rdma4j.wire.ImmDt;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Reth;
import io.rdma4j.wire.XrcEth;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/** The packets of SEND and RDMA WRITE over a connection, reliable or not. */
final class PayloadPackets {
    private PayloadPackets() {}

    /**
     * Writes one packet of a message with its payload and padding.
     *
     * @param r the work request
     * @param protectionDomain domain that its memory must be of
     * @param index which packet of the message, from 0
     * @param mtu payload bytes of a full packet
     * @param opcode what the packet is
     * @param peer number of the peer's queue pair
     * @param asksAck whether the packet asks for an acknowledgement
     * @param psn its packet sequence number; the lower 24 bits count
     * @return bytes written, or 0 if the memory cannot be used
     */
    static int write(
            SendRequest r,
            int protectionDomain,
            int index,
            int mtu,
            Opcode opcode,
            int peer,
            boolean asksAck,
            int psn,
            MemorySegment out,
            long at) {
        long from = (long) index * mtu;
        int length = (int) Math.min(mtu, r.lengthBytes - from);
        long payloadAt = at + opcode.headerLength();
        if (!gather(r, protectionDomain, from, length, out, payloadAt)) {
            return 0;
        }
        boolean solicited = r.solicited && opcode.isLast() && r.opcode != WorkOpcode.RDMA_WRITE;
        int pad = -length & 3;
        Bth.write(out, at, opcode.code(), solicited, pad, QueuePairMachine.PARTITION_KEY, peer, asksAck, psn);
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

    /** Copies a part of a work request's message to a packet; says whether its memory could be used. */
    static boolean gather(SendRequest r, int protectionDomain, long from, int length, MemorySegment out, long at) {
        return r.inline
                ? LocalMemory.copy(r.inlineData, from, out, at, length)
                : LocalMemory.gather(r.list, protectionDomain, from, length, out, at);
    }

    /** Number of packets of a message. */
    static int count(SendRequest r, int mtu) {
        return (int) Math.max(1, (Math.min(r.lengthBytes, Requester.MAX_MESSAGE_BYTES) + mtu - 1) / mtu);
    }

    /** Why a work request's memory cannot be used for what it does, or null. */
    static @Nullable WorkStatus judgeMemory(SendRequest r, int protectionDomain, int access) {
        if (r.inline) {
            return r.lengthBytes <= r.inlineData.byteSize() ? null : WorkStatus.LOCAL_LENGTH_ERROR;
        }
        if (r.list.totalBytes() != r.lengthBytes) {
            return WorkStatus.LOCAL_LENGTH_ERROR;
        }
        return LocalMemory.isUsable(r.list, protectionDomain, access) ? null : WorkStatus.LOCAL_PROTECTION_ERROR;
    }
}
