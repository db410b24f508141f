package io.rdma4j.wire.cm;

import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Deth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Packet;
import java.lang.foreign.MemorySegment;

/**
 * The packet that carries a MAD between the general services interfaces (queue pair 1) of two ports: BTH, DETH, 256 bytes
 * of MAD, ICRC. Source: InfiniBand Architecture volume 1, chapter 13.
 */
public final class GsiPacket {
    /** Queue pair of the general services interface. */
    public static final int QUEUE_PAIR = 1;

    /** Queue key that every packet to queue pair 1 carries. */
    public static final int QUEUE_KEY = 0x8001_0000;

    /** The default partition with full membership. */
    public static final int PARTITION_KEY = 0xffff;

    /** Bytes before the MAD. */
    public static final int HEADER_LENGTH = Bth.LENGTH + Deth.LENGTH;

    /** Bytes of the whole packet, the ICRC included. */
    public static final int LENGTH = HEADER_LENGTH + CmMad.LENGTH + Packet.ICRC_LENGTH;

    /** Bits of a partition key that name the partition. */
    private static final int PARTITION = 0x7fff;

    private GsiPacket() {}

    /**
     * Writes a packet that carries a CM message, all but the ICRC, whose four bytes are left alone.
     *
     * @param at where the packet begins; {@link #LENGTH} bytes must lie there
     * @param psn packet sequence number, 24 bits: the sender's own counter; no receiver checks it
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

    /** Whether a parsed packet is for queue pair 1. */
    public static boolean isGsi(Packet packet) {
        return packet.destinationQueuePair() == QUEUE_PAIR;
    }

    /**
     * Whether a parsed packet may be delivered to queue pair 1: a datagram without immediate data, in the default
     * partition, with the right queue key. What it carries is {@link CmMad#check}'s matter.
     */
    public static boolean isDeliverable(Packet packet) {
        return isGsi(packet)
                && packet.opcode() == Opcode.UD_SEND_ONLY
                && (packet.partitionKey() & PARTITION) == PARTITION
                && Deth.queueKey(packet.segment(), packet.dethOffset()) == QUEUE_KEY;
    }
}
