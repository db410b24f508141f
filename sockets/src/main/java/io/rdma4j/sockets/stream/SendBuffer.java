package io.rdma4j.sockets.stream;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

/** The ring buffer of data to send. Space is freed in the order in which it was filled. */
final class SendBuffer {
    private final ByteBuffer memory;
    private final int size;
    private final StreamPort.LocalRanges ranges = new StreamPort.LocalRanges();
    private int next;
    private int free;

    /** Creates a ring buffer at the start of a memory segment. */
    SendBuffer(MemorySegment memory, int size) {
        this.memory = memory.asSlice(0, size).asByteBuffer();
        this.size = size;
        this.free = size;
    }

    int freeBytes() {
        return free;
    }

    /** Copies bytes into the buffer, which must have space for them. The result is valid until the next call. */
    StreamPort.LocalRanges copy(ByteBuffer source, int length) {
        int first = Math.min(length, size - next);
        copyIn(source, next, first);
        copyIn(source, 0, length - first);
        ranges.set(next, first, 0, length - first);
        next = Ring.advance(next, length, size);
        free -= length;
        return ranges;
    }

    private void copyIn(ByteBuffer source, int at, int length) {
        if (length > 0) {
            memory.put(at, source, source.position(), length);
            source.position(source.position() + length);
        }
    }

    void free(int bytes) {
        free += bytes;
    }
}
