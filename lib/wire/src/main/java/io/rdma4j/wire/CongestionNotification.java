package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * The congestion notification packet (CNP), which tells a sender that its packets arrived with congestion marks: a BTH with
 * the BECN bit and PSN 0, and 16 reserved bytes. Source: InfiniBand Architecture volume 1, annex A17, A17.9.3.
 */
public final class CongestionNotification {
    private static final int RESERVED_BYTES = 16;

    /** Length of the packet in bytes, without the ICRC. */
    public static final int LENGTH = Bth.LENGTH + RESERVED_BYTES;

    private CongestionNotification() {}

    /**
     * Writes the {@link #LENGTH} bytes of a notification.
     *
     * @param partitionKey partition key of the marked packet
     * @param destinationQueuePair number of the queue pair that sent the marked packet
     */
    public static void write(MemorySegment s, long at, int partitionKey, int destinationQueuePair) {
        Bth.write(s, at, Opcode.CONGESTION_NOTIFICATION.code(), false, 0, partitionKey, destinationQueuePair, false, 0);
        Wire.u8(s, at + Bth.RESERVED_8A, Bth.BACKWARD_CONGESTION);
        Wire.u64(s, at + Bth.LENGTH, 0);
        Wire.u64(s, at + Bth.LENGTH + Long.BYTES, 0);
    }
}
