package io.rdma4j.sockets.io;

import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.net.SocketException;

/** Memory that the peer of an endpoint may write to. Ends with its connection. Thread safe. */
public final class StreamMapping {
    private final StreamEndpoint endpoint;
    private final MemoryRegion region;
    private final int index;
    private final long offset;
    private boolean ended;

    /** The mapping of a region that is registered for an endpoint's peer. */
    StreamMapping(StreamEndpoint endpoint, MemoryRegion region, int index, long offset) {
        this.endpoint = endpoint;
        this.region = region;
        this.index = index;
        this.offset = offset;
    }

    /**
     * Maps memory.
     *
     * @param memory native memory that lives as long as the mapping, at most 2^32-1 bytes
     * @param offset by which the peer knows its first byte; -1 for its address
     * @throws SocketException if the peer has no place for one more
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
                throw new SocketException("Cannot allocate memory (the peer takes no more mappings: give it a larger"
                        + " RDMA_IOMAPSIZE before it connects)");
            }
            return new StreamMapping(endpoint, region, index, at);
        });
    }

    /** The offset by which the peer knows its first byte. */
    public long offset() {
        return offset;
    }

    /** Ends it: what the peer writes there from now on breaks the connection. Once is enough. */
    public synchronized void end() {
        if (ended) {
            return;
        }
        ended = true;
        endpoint.unmap(region, index, offset);
    }
}
