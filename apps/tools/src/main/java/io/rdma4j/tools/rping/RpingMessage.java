package io.rdma4j.tools.rping;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The control message of rping: 16 bytes in network order, sent in both directions.
 *
 * <p>The client advertises a buffer with it. The server's messages contain zeros and mean "continue".
 *
 * @param address the address of the sender's buffer, at offset 0
 * @param key the remote key of the buffer, at offset 8
 * @param sizeBytes the size of the buffer, at offset 12
 */
record RpingMessage(long address, int key, int sizeBytes) {
    /** The size of the message in bytes. */
    static final int BYTES = 16;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Reads the message at the start of {@code memory}. */
    static RpingMessage read(MemorySegment memory) {
        return new RpingMessage(memory.get(LONG, 0), memory.get(INT, 8), memory.get(INT, 12));
    }

    /** Writes the message to the start of {@code memory}. */
    void write(MemorySegment memory) {
        memory.set(LONG, 0, address);
        memory.set(INT, 8, key);
        memory.set(INT, 12, sizeBytes);
    }
}
