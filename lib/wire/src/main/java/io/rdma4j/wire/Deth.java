package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * Datagram Extended Transport Header: the queue key of the receiver and the queue pair number of the sender. Source:
 * InfiniBand Architecture volume 1, 9.3.2.
 *
 * @param queueKey key that the receiving queue pair checks
 * @param sourceQueuePair number of the sending queue pair, 24 bits
 */
public record Deth(int queueKey, int sourceQueuePair) {
    /** Length of the header in bytes. */
    public static final int LENGTH = 8;

    private static final int QUEUE_KEY = 0;
    private static final int SOURCE_QUEUE_PAIR = 5;

    /** Returns the key that the receiving queue pair checks. */
    public static int queueKey(MemorySegment s, long at) {
        return Wire.u32(s, at + QUEUE_KEY);
    }

    /** Returns the number of the sending queue pair, 24 bits. */
    public static int sourceQueuePair(MemorySegment s, long at) {
        return Wire.u24(s, at + SOURCE_QUEUE_PAIR);
    }

    /** Writes a whole header without creating a record. */
    public static void write(MemorySegment s, long at, int queueKey, int sourceQueuePair) {
        Wire.u32(s, at + QUEUE_KEY, queueKey);
        Wire.u32(s, at + SOURCE_QUEUE_PAIR - 1, sourceQueuePair & 0xff_ffff);
    }

    /** Reads a header. The segment must hold {@link #LENGTH} bytes at {@code at}. */
    public static Deth parse(MemorySegment s, long at) {
        return new Deth(queueKey(s, at), sourceQueuePair(s, at));
    }

    /** Writes all {@link #LENGTH} bytes of this header. */
    public void emit(MemorySegment s, long at) {
        write(s, at, queueKey, sourceQueuePair);
    }
}
