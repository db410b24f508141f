package io.rdma4j.wire.cm;

import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;

/**
 * The packet that carries a MAD between the general services interfaces (queue pair 1) of two ports. It consists of a
 * BTH, a DETH, a MAD of 256 bytes and the ICRC. Source: InfiniBand Architecture volume 1, chapter 13.
 */
public final class GsiPacket {
    /** Queue pair of the general services interface. */
    public static final int QUEUE_PAIR = 1;

    /** Queue key of every packet to queue pair 1. */
    public static final int QUEUE_KEY = 0x8001_0000;

    /** The default partition with full membership. */
    public static final int PARTITION_KEY = 0xffff;

    /** Length of the headers before the MAD, in bytes. */
    public static final int HEADER_LENGTH = Bth.LENGTH + Deth.LENGTH;

    /** Length of the whole packet in bytes, including the ICRC. */
    public static final int LENGTH = HEADER_LENGTH + CmMad.LENGTH + Packet.ICRC_LENGTH;

    /** Bits of a partition key that identify the partition. */
    private static final int PARTITION = 0x7fff;

    private GsiPacket() {}

    /**
     * Writes a packet that carries a CM message. The four bytes of the ICRC are not written.
     *
     * @param at offset of the packet; the segment must hold {@link #LENGTH} bytes there
     * @param psn packet sequence number, 24 bits: a counter of the sender, which receivers do not check
     * @param transactionId see {@link CmMessage#emit}
     * @return {@link #LENGTH}
     */
    public static int write(MemorySegment s, long at, int psn, long transactionId, CmMessage message) {
        writeHeaders(s, at, psn);
        message.emit(s, at + HEADER_LENGTH, transactionId);
        return LENGTH;
    }

    /** Writes the {@link #HEADER_LENGTH} bytes before the MAD. As in Linux, the acknowledge request bit is set. */
    public static void writeHeaders(MemorySegment s, long at, int psn) {
        Bth.write(s, at, Opcode.UD_SEND_ONLY.code(), false, 0, PARTITION_KEY, QUEUE_PAIR, true, psn);
        Deth.write(s, at + Bth.LENGTH, QUEUE_KEY, QUEUE_PAIR);
    }

    /** Returns whether a parsed packet is for queue pair 1. */
    public static boolean isGsi(Packet packet) {
        return packet.destinationQueuePair() == QUEUE_PAIR;
    }

    /**
     * Returns whether a parsed packet may be delivered to queue pair 1. It must be a datagram without immediate data,
     * in the default partition, with the right queue key. {@link CmMad#check} checks its payload.
     */
    public static boolean isDeliverable(Packet packet) {
        return isGsi(packet)
                && packet.opcode() == Opcode.UD_SEND_ONLY
                && (packet.partitionKey() & PARTITION) == PARTITION
                && Deth.queueKey(packet.segment(), packet.dethOffset()) == QUEUE_KEY;
    }
}
