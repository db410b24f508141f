package io.rdma4j;

import io.rdma4j.verbs.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * Registered memory of a connection, from which its operations send and into which they receive. The peer cannot use it. {@link
 * Connection#allocate} and {@link Connection#register} make buffers; their connection closes those that the program has not closed.
 * Thread safe, but the content is for one user at a time.
 */
public final class Buffer implements AutoCloseable {
    private final MemoryRegion region;
    private final MemorySegment memory;
    private final long offsetBytes;
    private final Runnable onClose;

    /** Creates a buffer of a whole region. */
    Buffer(MemoryRegion region, Runnable onClose) {
        this(region, region.memory(), 0, onClose);
    }

    private Buffer(MemoryRegion region, MemorySegment memory, long offsetBytes, Runnable onClose) {
        this.region = region;
        this.memory = memory;
        this.offsetBytes = offsetBytes;
        this.onClose = onClose;
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
        return new Buffer(
                region, memory.asSlice(partOffsetBytes, partLengthBytes), offsetBytes + partOffsetBytes, () -> {});
    }

    /** Deregisters the memory. Operations that still use it fail. Closing again has no effect. */
    @Override
    public void close() {
        onClose.run();
    }

    @Override
    public String toString() {
        return "buffer of " + lengthBytes() + " bytes";
    }
}
