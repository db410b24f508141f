package io.rdma4j.wire;

import java.lang.foreign.MemorySegment;

/**
 * Datagram Extended Transport Header: the key of the receiving queue pair and the sender's number. Source: InfiniBand Architecture volume 1, 9.3.2.
 *
 * @param queueKey key that the receiving queue pair checks
 * @param sourceQueuePair number of the sending queue pair, 24 bits
 */
public record Deth(int queueKey, int sourceQueuePair) {
    /** Bytes of the header. */
    public static final int LENGTH = 8;

    private static final int QUEUE_KEY = 0;
    private static final int SOURCE_QUEUE_PAIR = 5;

    /** Key that the receiving queue pair checks. */
    public static int queueKey(MemorySegment s, long at) {
        return Wire.u32(s, at + QUEUE_KEY);
    }

    /** Number of the sending queue pair, 24 bits. */
    public static int sourceQueuePair(MemorySegment s, long at) {
        return Wire.u24(s, at + SOURCE_QUEUE_PAIR);
    }

    /** Writes a whole header; the hot path's way. */
    public static void write(MemorySegment s, long at, int queueKey, int sourceQueuePair) {
        Wire.u32(s, at + QUEUE_KEY, queueKey);
        Wire.u32(s, at + SOURCE_QUEUE_PAIR - 1, sourceQueuePair & 0xff_ffff);
    }

    /** Reads a header; {@link #LENGTH} bytes must lie at {@code at}. */
    public static Deth parse(MemorySegment s, long at) {
        return new Deth(queueKey(s, at), sourceQueuePair(s, at));
    }

    /** Writes this header; every one of the {@link #LENGTH} bytes is written. */
    public void emit(MemorySegment s, long at) {
        write(s, at, queueKey, sourceQueuePair);
    }
}
