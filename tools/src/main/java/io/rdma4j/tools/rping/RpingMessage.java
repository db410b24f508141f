package io.rdma4j.tools.rping;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;

/**
 * The control message of rping: 16 bytes in network order, sent both ways. The client tells with it where its data are;
 * the server answers with zeros, which say "go on".
 *
 * @param address address of the sender's buffer, offset 0
 * @param key key of it, offset 8
 * @param sizeBytes bytes of it, offset 12
 */
record RpingMessage(long address, int key, int sizeBytes) {
    /** Bytes on the wire. */
    static final int BYTES = 16;

    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    /** Reads the message at the front of {@code memory}. */
    static RpingMessage read(MemorySegment memory) {
        return new RpingMessage(memory.get(LONG, 0), memory.get(INT, 8), memory.get(INT, 12));
    }

    /** Writes the message to the front of {@code memory}. */
    void write(MemorySegment memory) {
        memory.set(LONG, 0, address);
        memory.set(INT, 8, key);
        memory.set(INT, 12, sizeBytes);
    }
}
