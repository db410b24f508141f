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
 * <p>The static accessors read and write fields in place without validating them. The segment must hold {@link #LENGTH}
 * bytes at the offset. A record holds the values of one header.
 *
 * @param opcode operation, see {@link Opcode}
 * @param solicited true if the packet requests an event at the receiver (SE)
 * @param migrated migration state bit (MigReq)
 * @param padCount bytes of padding after the payload, 0 to 3
 * @param version transport header version, 0
 * @param partitionKey partition key
 * @param destinationQueuePair queue pair number, 24 bits
 * @param acknowledgeRequest true if the sender requests an acknowledgement
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
    /** Length of the header in bytes. */
    public static final int LENGTH = 12;

    private static final int OPCODE = 0;
    private static final int FLAGS = 1;
    private static final int PARTITION_KEY = 2;

    /**
     * Offset of the byte with FECN, BECN and six reserved bits, which the ICRC masks. The word that begins there ends with the
     * queue pair number.
     */
    static final int RESERVED_8A = 4;

    /** Offset of the word that ends with the packet sequence number. */
    static final int ACKNOWLEDGE_REQUEST = 8;

    /** The backward explicit congestion notification bit in the byte at {@link #RESERVED_8A}. */
    static final int BACKWARD_CONGESTION = 0x40;

    static final int SOLICITED = 0x80;
    private static final int MIGRATED = 0x40;

    /** Returns the opcode byte. */
    public static int opcode(MemorySegment s, long at) {
        return Wire.u8(s, at + OPCODE);
    }

    /** Returns the solicited event bit. */
    public static boolean solicited(MemorySegment s, long at) {
        return (Wire.u8(s, at + FLAGS) & SOLICITED) != 0;
    }

    /** Returns the migration state bit. */
    public static boolean migrated(MemorySegment s, long at) {
        return (Wire.u8(s, at + FLAGS) & MIGRATED) != 0;
    }

    /** Returns the number of padding bytes, 0 to 3. */
    public static int padCount(MemorySegment s, long at) {
        return Wire.u8(s, at + FLAGS) >> 4 & 3;
    }

    /** Returns the transport header version. */
    public static int version(MemorySegment s, long at) {
        return Wire.u8(s, at + FLAGS) & 0xf;
    }

    /** Returns the partition key. */
    public static int partitionKey(MemorySegment s, long at) {
        return Wire.u16(s, at + PARTITION_KEY);
    }

    /** Returns the destination queue pair number. */
    public static int destinationQueuePair(MemorySegment s, long at) {
        return Wire.u32(s, at + RESERVED_8A) & 0xff_ffff;
    }

    /** Returns the acknowledge request bit. */
    public static boolean acknowledgeRequest(MemorySegment s, long at) {
        return (Wire.u8(s, at + ACKNOWLEDGE_REQUEST) & 0x80) != 0;
    }

    /** Returns the packet sequence number. */
    public static int psn(MemorySegment s, long at) {
        return Wire.u32(s, at + ACKNOWLEDGE_REQUEST) & Psn.MASK;
    }

    /** Writes a whole header with version 0, no migration and all reserved bits zero, without creating a record. */
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
        int first = opcode << 24 | flags << 16 | partitionKey & 0xffff;
        Wire.u64(s, at, (long) first << 32 | destinationQueuePair & 0xff_ffff);
        Wire.u32(s, at + ACKNOWLEDGE_REQUEST, (acknowledgeRequest ? 0x8000_0000 : 0) | psn & Psn.MASK);
    }

    /** Reads a header. The segment must hold {@link #LENGTH} bytes at {@code at}. */
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

    /** Writes all {@link #LENGTH} bytes of this header. */
    public void emit(MemorySegment s, long at) {
        write(s, at, opcode, solicited, padCount, partitionKey, destinationQueuePair, acknowledgeRequest, psn);
        Wire.u8(
                s,
                at + FLAGS,
                (solicited ? SOLICITED : 0) | (migrated ? MIGRATED : 0) | (padCount & 3) << 4 | version & 0xf);
    }
}
