package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * Base Transport Header, the first 12 bytes of every RoCEv2 packet. Source: InfiniBand Architecture volume 1, 9.2.
 *
 * <pre>
 *  0        8 9 A B C   F 10                              1F
 * | opcode   |S|M|pad|tver| partition key                  |
 * | FECN/BECN/reserved    | destination queue pair (24)    |
 * |A| reserved            | packet sequence number (24)    |
 * </pre>
 *
 * <p>The static accessors read and write fields in place and judge nothing: they are safe where {@link #LENGTH} bytes
 * lie in the segment. A record holds one header's values.
 *
 * @param opcode operation, see {@link Opcode}
 * @param solicited whether the packet asks for an event at the receiver (SE)
 * @param migrated migration state bit (MigReq)
 * @param padCount bytes of padding after the payload, 0 to 3
 * @param version transport header version, 0
 * @param partitionKey partition key
 * @param destinationQueuePair queue pair number, 24 bits
 * @param acknowledgeRequest whether the sender asks for an acknowledgement
 * @param psn packet sequence number, 24 bits
 */
public record Bth(
        int opcode,
        boolean solicited,
        boolean migrated,
        int padCount,
        int version,
        int partitionKey,
        int destinationQueuePair,
        boolean acknowledgeRequest,
        int psn) {
    /** Bytes of the header. */
    public static final int LENGTH = 12;

    private static final int OPCODE = 0;
    private static final int FLAGS = 1;
    private static final int PARTITION_KEY = 2;
    /** Byte with FECN, BECN and six reserved bits; the ICRC masks it. */
    static final int RESERVED_8A = 4;

    private static final int DESTINATION_QUEUE_PAIR = 5;
    private static final int ACKNOWLEDGE_REQUEST = 8;
    private static final int PSN = 9;

    private static final int SOLICITED = 0x80;
    private static final int MIGRATED = 0x40;

    /** Opcode byte. */
    public static int opcode(MemorySegment s, long at) {
        return Wire.u8(s, at + OPCODE);
    }

    /** Solicited event bit. */
    public static boolean solicited(MemorySegment s, long at) {
        return (Wire.u8(s, at + FLAGS) & SOLICITED) != 0;
    }

    /** Migration state bit. */
    public static boolean migrated(MemorySegment s, long at) {
        return (Wire.u8(s, at + FLAGS) & MIGRATED) != 0;
    }

    /** Bytes of padding, 0 to 3. */
    public static int padCount(MemorySegment s, long at) {
        return Wire.u8(s, at + FLAGS) >> 4 & 3;
    }

    /** Transport header version. */
    public static int version(MemorySegment s, long at) {
        return Wire.u8(s, at + FLAGS) & 0xf;
    }

    /** Partition key. */
    public static int partitionKey(MemorySegment s, long at) {
        return Wire.u16(s, at + PARTITION_KEY);
    }

    /** Destination queue pair number. */
    public static int destinationQueuePair(MemorySegment s, long at) {
        return Wire.u24(s, at + DESTINATION_QUEUE_PAIR);
    }

    /** Acknowledge request bit. */
    public static boolean acknowledgeRequest(MemorySegment s, long at) {
        return (Wire.u8(s, at + ACKNOWLEDGE_REQUEST) & 0x80) != 0;
    }

    /** Packet sequence number. */
    public static int psn(MemorySegment s, long at) {
        return Wire.u24(s, at + PSN);
    }

    /** Writes a whole header with version 0, no migration and all reserved bits zero; the hot path's way. */
    public static void write(
            MemorySegment s,
            long at,
            int opcode,
            boolean solicited,
            int padCount,
            int partitionKey,
            int destinationQueuePair,
            boolean acknowledgeRequest,
            int psn) {
        int flags = (solicited ? SOLICITED : 0) | padCount << 4;
        Wire.u32(s, at, opcode << 24 | flags << 16 | partitionKey & 0xffff);
        Wire.u32(s, at + RESERVED_8A, destinationQueuePair & 0xff_ffff);
        Wire.u32(s, at + ACKNOWLEDGE_REQUEST, (acknowledgeRequest ? 0x8000_0000 : 0) | psn & Psn.MASK);
    }

    /** Reads a header; {@link #LENGTH} bytes must lie at {@code at}. */
    public static Bth parse(MemorySegment s, long at) {
        return new Bth(
                opcode(s, at),
                solicited(s, at),
                migrated(s, at),
                padCount(s, at),
                version(s, at),
                partitionKey(s, at),
                destinationQueuePair(s, at),
                acknowledgeRequest(s, at),
                psn(s, at));
    }

    /** Writes this header; every one of the {@link #LENGTH} bytes is written. */
    public void emit(MemorySegment s, long at) {
        write(s, at, opcode, solicited, padCount, partitionKey, destinationQueuePair, acknowledgeRequest, psn);
        Wire.u8(
                s,
                at + FLAGS,
                (solicited ? SOLICITED : 0) | (migrated ? MIGRATED : 0) | (padCount & 3) << 4 | version & 0xf);
    }
}
