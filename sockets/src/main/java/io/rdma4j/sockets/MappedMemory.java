package io.rdma4j.sockets;

import io.rdma4j.sockets.io.StreamMapping;
import java.lang.foreign.MemorySegment;

/**
 * Memory of this process that the peer of an {@link RdmaStreamSocket} may write to by {@link RdmaStreamSocket#writeMapped}.
 * The bytes appear in it without a call on this side; who needs to know when they are there has the peer tell it through the
 * stream. It ends with {@link #close} or with the connection; the memory must live until then. Thread safe. C: what {@code
 * riomap} returns an offset for.
 */
public final class MappedMemory implements AutoCloseable {
    private final MemorySegment memory;
    private final StreamMapping mapping;

    MappedMemory(MemorySegment memory, StreamMapping mapping) {
        this.memory = memory;
        this.mapping = mapping;
    }

    /** The memory. */
    public MemorySegment memory() {
        return memory;
    }

    /** The offset by which the peer knows its first byte. */
    public long offset() {
        return mapping.offset();
    }

    /**
     * Takes the memory back. The peer hears of it with the next data; a write of its that is under way then breaks the
     * connection. C: {@code riounmap}.
     */
    @Override
    public void close() {
        mapping.end();
    }
}
