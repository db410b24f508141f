package io.rdma4j.sockets.stream;

import io.rdma4j.wire.rsocket.BufferDescriptor;
import java.nio.ByteBuffer;

/**
 * The buffers that the peer has offered to write to: the current one, and possibly the next. The peer writes their
 * descriptors into the table in turn. An entry is read only after a control word has reported it, never while the peer
 * may be writing it.
 */
final class PeerBuffers {
    private final ByteBuffer table;
    private final long[] address = new long[StreamMemory.DESCRIPTORS];
    private final int[] key = new int[StreamMemory.DESCRIPTORS];
    private final int[] remaining = new int[StreamMemory.DESCRIPTORS];
    private int current;
    private int next = 1;

    /**
     * Creates the buffers for a table in the byte order of this host; the first buffer came with the connection data.
     */
    PeerBuffers(ByteBuffer table, BufferDescriptor first) {
        this.table = table;
        put(0, first);
    }

    private void put(int index, BufferDescriptor offered) {
        address[index] = offered.address();
        key[index] = offered.key();
        remaining[index] = offered.length();
    }

    /**
     * Reads the next entry of the table. Returns false if it is empty, or if the buffer that it replaces is not used
     * up.
     */
    boolean onWritten() {
        BufferDescriptor offered = BufferDescriptor.read(table, next * BufferDescriptor.LENGTH);
        if (remaining[next] != 0 || offered.length() <= 0) {
            return false;
        }
        put(next, offered);
        next = (next + 1) % StreamMemory.DESCRIPTORS;
        return true;
    }

    /**
     * Returns whether the next entry holds an unread descriptor, for transports with control words that do not report
     * it.
     */
    boolean isWritten() {
        return remaining[next] == 0
                && BufferDescriptor.read(table, next * BufferDescriptor.LENGTH).length() != 0;
    }

    /** Clears the entry that was read last, so that {@link #isWritten} can detect a new one. */
    void clearRead() {
        int last = (next + StreamMemory.DESCRIPTORS - 1) % StreamMemory.DESCRIPTORS;
        new BufferDescriptor(0, 0, 0).write(table, last * BufferDescriptor.LENGTH);
    }

    /** Returns the number of bytes that can be written now, in one range. */
    int available() {
        return remaining[current];
    }

    long address() {
        return address[current];
    }

    int key() {
        return key[current];
    }

    /** Advances past written bytes. A buffer is used up before the next, because the peer reads its ring in order. */
    void advance(int bytes) {
        address[current] += bytes;
        remaining[current] -= bytes;
        if (remaining[current] == 0) {
            current = (current + 1) % StreamMemory.DESCRIPTORS;
        }
    }
}
