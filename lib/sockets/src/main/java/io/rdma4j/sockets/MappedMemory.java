package io.rdma4j.sockets;

import io.rdma4j.sockets.io.StreamMapping;
import java.lang.foreign.MemorySegment;

/**
 * Memory of this process that the peer of an {@link RdmaStreamSocket} may write to. The peer writes by
 * {@link RdmaStreamSocket#writeMapped}. The bytes appear without a call on this side. If the application must know when
 * the data is complete, the peer sends a message on the stream. The mapping ends with {@link #close} or with the
 * connection; the memory must stay valid until then. Thread safe. C: the memory that {@code riomap} returns an offset
 * for.
 */
public final class MappedMemory implements AutoCloseable {
    private final MemorySegment memory;
    private final StreamMapping mapping;

    MappedMemory(MemorySegment memory, StreamMapping mapping) {
        this.memory = memory;
        this.mapping = mapping;
    }

    /** Returns the memory. */
    public MemorySegment memory() {
        return memory;
    }

    /** Returns the offset by which the peer addresses the first byte. */
    public long offset() {
        return mapping.offset();
    }

    /**
     * Revokes the peer's access to the memory. The peer is notified with the next data it receives. If a write of the
     * peer to it is still in flight, that write breaks the connection. C: {@code riounmap}.
     */
    @Override
    public void close() {
        mapping.end();
    }
}
