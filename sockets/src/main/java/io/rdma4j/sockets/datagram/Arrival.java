package io.rdma4j.sockets.datagram;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A datagram that waits to be received: in a slot of a local end, or in memory of its own if it came over UDP. */
final class Arrival {
    private final @Nullable LocalEnd end;
    private final int slot;
    private final MemorySegment memory;
    private int offset;
    private int length;
    private DatagramAddress source;

    /** The place of a slot, used again and again. */
    Arrival(LocalEnd end, int slot, MemorySegment memory, DatagramAddress source) {
        this.end = end;
        this.slot = slot;
        this.memory = memory;
        this.source = source;
    }

    /** A datagram that came over UDP. */
    Arrival(ByteBuffer data, DatagramAddress source) {
        this(MemorySegment.ofBuffer(data).toArray(ValueLayout.JAVA_BYTE), source);
    }

    private Arrival(byte[] data, DatagramAddress source) {
        end = null;
        slot = 0;
        memory = MemorySegment.ofArray(data);
        length = data.length;
        this.source = source;
    }

    /** The same datagram in memory of its own. */
    Arrival copy() {
        return new Arrival(memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE), source);
    }

    Arrival set(int newOffset, int newLength, DatagramAddress newSource) {
        offset = newOffset;
        length = newLength;
        source = newSource;
        return this;
    }

    DatagramAddress source() {
        return source;
    }

    /** The local end whose slot it occupies, or null. */
    @Nullable
    LocalEnd end() {
        return end;
    }

    int slot() {
        return slot;
    }

    /** Copies as much as fits. */
    void copyTo(ByteBuffer target) {
        int count = Math.min(length, target.remaining());
        MemorySegment.copy(memory, offset, MemorySegment.ofBuffer(target), 0, count);
        target.position(target.position() + count);
    }
}
