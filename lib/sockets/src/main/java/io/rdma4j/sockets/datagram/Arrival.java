package io.rdma4j.sockets.datagram;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** A received datagram: in a slot of a local end, or in separate memory if it came over UDP. */
final class Arrival {
    private final @Nullable LocalEnd end;
    private final int slot;
    private final MemorySegment memory;
    private int offset;
    private int length;
    private DatagramAddress source;

    /** Creates the reusable object for a receive slot. */
    Arrival(LocalEnd end, int slot, MemorySegment memory, DatagramAddress source) {
        this.end = end;
        this.slot = slot;
        this.memory = memory;
        this.source = source;
    }

    /** Copies a datagram that arrived over UDP. */
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

    /** Returns a copy of the datagram in separate memory. */
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

    /** Returns the local end that has the slot of the datagram, or null. */
    @Nullable
    LocalEnd end() {
        return end;
    }

    int slot() {
        return slot;
    }

    /** Copies as many bytes as fit. */
    void copyTo(ByteBuffer target) {
        int count = Math.min(length, target.remaining());
        MemorySegment.copy(memory, offset, MemorySegment.ofBuffer(target), 0, count);
        target.position(target.position() + count);
    }
}
