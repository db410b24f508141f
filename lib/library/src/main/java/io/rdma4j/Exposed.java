package io.rdma4j;

import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RemoteMemory;
import java.lang.foreign.MemorySegment;
import java.util.Collection;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Memory that peers may use, over any number of connections and devices. Thread safe.
 *
 * <p>The memory is registered with each device on first use there, so it works behind a listener of all addresses: each peer gets
 * the address and key that are valid for its device. {@link ConnectionRequest#privateData(Exposed)} and {@link
 * Connector#privateData(Exposed)} send them to the peer, which gets them from {@link Peer#memory}; {@link #at} returns them to be
 * sent in another way.
 */
public final class Exposed implements AutoCloseable {
    private final MemorySegment memory;
    private final Set<Access> rights;

    /** The region of each device's protection domain; guarded by itself. */
    private final Map<ProtectionDomain, MemoryRegion> regions = new HashMap<>();

    private boolean closed;

    private Exposed(MemorySegment memory, Set<Access> rights) {
        this.memory = memory;
        this.rights = rights;
    }

    /**
     * Exposes memory.
     *
     * @param memory memory that every thread may access, of an arena that stays open until this object is closed. Hardware needs native
     *     memory. May be read-only if peers only read it
     * @param rights the rights of peers
     * @throws IllegalArgumentException if only one thread may access the memory
     */
    public static Exposed of(MemorySegment memory, Access... rights) {
        Buffers.requireShared(memory);
        Set<Access> set = EnumSet.noneOf(Access.class);
        set.addAll(List.of(rights));
        return new Exposed(memory, set);
    }

    /** Returns the memory. */
    public MemorySegment memory() {
        return memory;
    }

    /**
     * Returns the address, key and length for the peer of a connection.
     *
     * @throws ClosedException if this object is closed
     * @throws io.rdma4j.verbs.RdmaException if the device cannot register the memory
     */
    public RemoteMemory at(Connection connection) {
        return at(connection.id().protectionDomain());
    }

    RemoteMemory at(ProtectionDomain domain) {
        synchronized (regions) {
            if (closed) {
                throw new ClosedException("expose", "the exposed memory is closed", "");
            }
            MemoryRegion region = regions.get(domain);
            if (region == null) {
                region = domain.register(memory, Access.flags(rights, memory));
                regions.put(domain, region);
            }
            return region.remote();
        }
    }

    /** Revokes the access of all peers: their work requests fail. Closing again has no effect. */
    @Override
    public void close() {
        Collection<MemoryRegion> all;
        synchronized (regions) {
            closed = true;
            all = List.copyOf(regions.values());
        }
        Cleanup.runAll(all.stream().<Runnable>map(region -> region::close).toList());
        synchronized (regions) {
            regions.clear(); // last: if a region could not be closed for lack of stack or memory, closing again tries
            // again
        }
    }
}
