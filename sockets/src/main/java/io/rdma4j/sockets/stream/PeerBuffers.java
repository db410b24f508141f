package io.rdma4j.sockets.stream;

import io.rdma4j.wire.rsocket.BufferDescriptor;
import java.nio.ByteBuffer;

/**
 * The buffers that the peer has offered to write to: one to write to now, and maybe the next. The peer writes them into the
 * table, in turn; they are read when its word says that one is there, never while it may be writing.
 */
final class PeerBuffers {
    private final ByteBuffer table;
    private final long[] address = new long[StreamMemory.DESCRIPTORS];
    private final int[] key = new int[StreamMemory.DESCRIPTORS];
    private final int[] left = new int[StreamMemory.DESCRIPTORS];
    private int current;
    private int nextToCome = 1;

    /** A table in the byte order of this host, whose first buffer came with the connection. */
    PeerBuffers(ByteBuffer table, BufferDescriptor first) {
        this.table = table;
        put(0, first);
    }

    private void put(int index, BufferDescriptor offered) {
        address[index] = offered.address();
        key[index] = offered.key();
        left[index] = offered.length();
    }

    /** The next entry of the table is written. False if it is of no use, or the one before it in that place is not used up. */
    boolean onWritten() {
        BufferDescriptor offered = BufferDescriptor.read(table, nextToCome * BufferDescriptor.LENGTH);
        if (left[nextToCome] != 0 || offered.length() <= 0) {
            return false;
        }
        put(nextToCome, offered);
        nextToCome = (nextToCome + 1) % StreamMemory.DESCRIPTORS;
        return true;
    }

    /** Whether the next entry holds something that was not read yet, for transports whose words do not tell. */
    boolean isWritten() {
        return left[nextToCome] == 0
                && BufferDescriptor.read(table, nextToCome * BufferDescriptor.LENGTH)
                                .length()
                        != 0;
    }

    /** Empties the entry that was read last, so that {@link #isWritten} can tell a new one. */
    void clearRead() {
        int last = (nextToCome + StreamMemory.DESCRIPTORS - 1) % StreamMemory.DESCRIPTORS;
        new BufferDescriptor(0, 0, 0).write(table, last * BufferDescriptor.LENGTH);
    }

    /** Bytes that may be written now, in one piece. */
    int available() {
        return left[current];
    }

    long address() {
        return address[current];
    }

    int key() {
        return key[current];
    }

    /** So many bytes have been written. A buffer is used to its end before the next, as the peer reads on in its ring. */
    void advance(int bytes) {
        address[current] += bytes;
        left[current] -= bytes;
        if (left[current] == 0) {
            current = (current + 1) % StreamMemory.DESCRIPTORS;
        }
    }
}
