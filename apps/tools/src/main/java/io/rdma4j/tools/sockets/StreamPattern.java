package io.rdma4j.tools.sockets;

import java.nio.ByteBuffer;

/** The bytes that one side sends and the other expects: a counter that continues over the whole run. */
final class StreamPattern {
    private byte next;
    private long position;

    /** Fills the start of a buffer with the next bytes. */
    void fill(ByteBuffer buffer, int bytes) {
        byte value = next;
        for (int i = 0; i < bytes; i++) {
            buffer.put(i, value++);
        }
        next = value;
        position += bytes;
    }

    /**
     * Compares the start of a buffer with the next bytes. Returns the offset in the run of the first difference, or -1.
     */
    long compare(ByteBuffer buffer, int bytes) {
        byte value = next;
        for (int i = 0; i < bytes; i++) {
            if (buffer.get(i) != value++) {
                return position + i;
            }
        }
        next = value;
        position += bytes;
        return -1;
    }
}
