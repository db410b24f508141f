package io.rdma4j.sockets.stream;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** The ring that data are copied into to be sent. They leave in the order in which they came. */
final class SendBuffer {
    private final ByteBuffer memory;
    private final int size;
    private final StreamPort.Piece piece = new StreamPort.Piece();
    private int next;
    private int free;

    /** A ring at the beginning of a memory. */
    SendBuffer(MemorySegment memory, int size) {
        this.memory = memory.asSlice(0, size).asByteBuffer();
        this.size = size;
        this.free = size;
    }

    int freeBytes() {
        return free;
    }

    /** Copies bytes in; there must be room for them. The result is valid until the next call. */
    StreamPort.Piece copy(ByteBuffer source, int length) {
        int first = Math.min(length, size - next);
        take(source, next, first);
        take(source, 0, length - first);
        piece.at(next, first, 0, length - first);
        next = Ring.advance(next, length, size);
        free -= length;
        return piece;
    }

    private void take(ByteBuffer source, int at, int length) {
        if (length > 0) {
            memory.put(at, source, source.position(), length);
            source.position(source.position() + length);
        }
    }

    void free(int bytes) {
        free += bytes;
    }
}
