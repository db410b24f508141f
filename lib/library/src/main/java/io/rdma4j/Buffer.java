package io.rdma4j;

import io.rdma4j.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Registered memory of a connection, from which its operations send and into which they receive. The peer cannot use it. {@link
 * Connection#allocate} and {@link Connection#register} create buffers; their connection closes those that the program has not
 * closed. Thread safe, but the content is for one user at a time.
 */
public final class Buffer implements AutoCloseable {
    private final MemoryRegion region;
    private final MemorySegment memory;
    private final long offsetBytes;
    private final Consumer<MemoryRegion> onClose;

    /** The buffer of the whole region: closing it also closes its parts. */
    private final Buffer whole;

    private volatile boolean isClosed;

    /** Creates a buffer of a whole region. */
    Buffer(MemoryRegion region, Consumer<MemoryRegion> onClose) {
        this.region = region;
        this.onClose = onClose;
        memory = region.memory();
        offsetBytes = 0;
        whole = this;
    }

    private Buffer(Buffer whole, MemorySegment memory, long offsetBytes) {
        this.whole = whole;
        this.memory = memory;
        this.offsetBytes = offsetBytes;
        region = whole.region;
        onClose = _ -> {};
    }

    /** Returns the memory. */
    public MemorySegment memory() {
        return memory;
    }

    /** Returns the length in bytes. */
    public long lengthBytes() {
        return memory.byteSize();
    }

    /** Returns the registration, for work requests of {@link Connection#queuePair}. */
    public MemoryRegion region() {
        return region;
    }

    /** Returns the offset of the buffer in its {@link #region}, in bytes: 0 unless it is a slice. */
    public long offsetBytes() {
        return offsetBytes;
    }

    /**
     * Returns a part of the buffer. Closing the part has no effect.
     *
     * @throws IndexOutOfBoundsException if the part exceeds the buffer
     */
    public Buffer slice(long partOffsetBytes, long partLengthBytes) {
        Objects.checkFromIndexSize(partOffsetBytes, partLengthBytes, lengthBytes());
        return new Buffer(whole, memory.asSlice(partOffsetBytes, partLengthBytes), offsetBytes + partOffsetBytes);
    }

    /** Returns the registration for an operation; the buffer must be open. */
    MemoryRegion openRegion() {
        if (whole.isClosed) {
            throw new IllegalStateException("the buffer is closed");
        }
        return region;
    }

    /** Deregisters the memory. Operations that still use it fail. Closing again has no effect. */
    @Override
    public void close() {
        isClosed = true;
        onClose.accept(region);
    }

    @Override
    public String toString() {
        return "buffer of " + lengthBytes() + " bytes";
    }
}
