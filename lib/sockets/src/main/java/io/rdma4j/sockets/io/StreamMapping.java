package io.rdma4j.sockets.io;

import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketException;

/** Memory that the peer of an endpoint may write to. Ends with the connection. Thread safe. */
public final class StreamMapping {
    private final StreamEndpoint endpoint;
    private final MemoryRegion region;
    private final int index;
    private final long offset;
    private boolean ended;

    /** Creates the mapping of a region that is registered for an endpoint's peer. */
    StreamMapping(StreamEndpoint endpoint, MemoryRegion region, int index, long offset) {
        this.endpoint = endpoint;
        this.region = region;
        this.index = index;
        this.offset = offset;
    }

    /**
     * Maps memory.
     *
     * @param memory native memory of at most 2^32-1 bytes, which must stay valid as long as the mapping exists
     * @param offset the offset by which the peer addresses the first byte; -1 to use the address of that byte
     * @throws SocketException if the peer has no free mapping entry
     */
    public static StreamMapping of(StreamEndpoint endpoint, MemorySegment memory, long offset) throws IOException {
        if (memory.byteSize() == 0 || memory.byteSize() > 0xffff_ffffL) {
            throw new IllegalArgumentException("memory of " + memory.byteSize() + " bytes cannot be mapped");
        }
        return endpoint.withResources(resources -> {
            MemoryRegion region = resources.map(memory);
            long at = offset == -1 ? region.address() : offset;
            int index = resources
                    .protocol()
                    .map(new MappingEntry(
                            at, new BufferDescriptor(region.address(), region.remoteKey(), (int) memory.byteSize())));
            if (index < 0) {
                resources.unmap(region);
                throw new SocketException("Cannot allocate memory (the peer has no free mapping entry: set a larger"
                        + " RDMA_IOMAPSIZE on the peer before it connects)");
            }
            return new StreamMapping(endpoint, region, index, at);
        });
    }

    /** Returns the offset by which the peer addresses the first byte. */
    public long offset() {
        return offset;
    }

    /** Ends the mapping. A later write of the peer to it breaks the connection. Further calls have no effect. */
    public synchronized void end() {
        if (ended) {
            return;
        }
        ended = true;
        endpoint.unmap(region, index, offset);
    }
}
