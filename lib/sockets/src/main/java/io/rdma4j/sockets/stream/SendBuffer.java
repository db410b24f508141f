package io.rdma4j.sockets.stream;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The ring buffer of data to send. Space is freed in the order in which it was filled. The buffer grows by continuing
 * in another, larger ring; the memory of the former one is released when all of its bytes are acknowledged.
 */
final class SendBuffer {
    private final StreamPort port;
    private final int limitBytes;
    private final StreamPort.LocalRanges ranges = new StreamPort.LocalRanges();
    private ByteBuffer memory;
    private int size;
    private int next;
    private int free;

    /** The memory of the ring, if it was allocated when the buffer grew. */
    private StreamPort.@Nullable SendMemory grown;

    /** The memory of the former ring, if it was allocated, while some of its bytes are not acknowledged. */
    private StreamPort.@Nullable SendMemory former;

    private int formerBytes;

    /** Creates a ring buffer at the start of a memory segment. */
    SendBuffer(MemorySegment memory, int size, StreamPort port, int limitBytes) {
        this.memory = memory.asSlice(0, size).asByteBuffer();
        this.size = size;
        this.free = size;
        this.port = port;
        this.limitBytes = limitBytes;
    }

    int freeBytes() {
        return free;
    }

    /**
     * Doubles the size. Returns false if the buffer has its maximum size, still uses its former ring, or gets no
     * memory.
     */
    boolean grow() {
        int wanted = BufferLimits.doubled(size, limitBytes);
        if (wanted <= size || formerBytes > 0) {
            return false;
        }
        StreamPort.SendMemory larger = port.allocateSendMemory(wanted);
        if (larger == null) {
            return false;
        }
        former = grown;
        formerBytes = size - free;
        grown = larger;
        memory = larger.memory().asByteBuffer();
        size = wanted;
        next = 0;
        free = wanted;
        releaseFormer();
        return true;
    }

    /** Copies bytes into the buffer, which must have space for them. The result is valid until the next call. */
    StreamPort.LocalRanges copy(ByteBuffer source, int length) {
        int first = Math.min(length, size - next);
        copyIn(source, next, first);
        copyIn(source, 0, length - first);
        ranges.set(grown, next, first, 0, length - first);
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

    /** Frees the oldest bytes, which belong to one message. */
    void free(int bytes) {
        if (formerBytes == 0) {
            free += bytes;
        } else {
            formerBytes -= bytes;
            releaseFormer();
        }
    }

    private void releaseFormer() {
        StreamPort.SendMemory unused = former;
        if (formerBytes == 0 && unused != null) {
            former = null;
            port.releaseSendMemory(unused);
        }
    }
}
