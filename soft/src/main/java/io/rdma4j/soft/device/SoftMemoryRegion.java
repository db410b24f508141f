package io.rdma4j.soft.device;

import io.rdma4j.soft.engine.Engines;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** A memory region. */
final class SoftMemoryRegion implements MemoryRegion {
    private final SoftProtectionDomain domain;
    private final Set<AccessFlag> access;
    private final io.rdma4j.transport.MemoryRegion region;

    SoftMemoryRegion(SoftProtectionDomain domain, Set<AccessFlag> access, io.rdma4j.transport.MemoryRegion region) {
        this.domain = domain;
        this.access = Set.copyOf(access);
        this.region = region;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    /** Returns the region of the transport. */
    io.rdma4j.transport.MemoryRegion region() {
        return region;
    }

    @Override
    public MemorySegment memory() {
        return region.memory();
    }

    @Override
    public long address() {
        return region.address();
    }

    @Override
    public long lengthBytes() {
        return region.lengthBytes();
    }

    @Override
    public int localKey() {
        return region.key();
    }

    @Override
    public int remoteKey() {
        return region.key();
    }

    @Override
    public Set<AccessFlag> access() {
        return access;
    }

    @Override
    public void close() {
        Engines engines = domain.softContext().engines();
        if (!engines.memory().deregister(region)) {
            throw new RdmaException(
                    "ibv_dereg_mr",
                    Errno.EBUSY,
                    region.boundWindows() + " memory windows are bound to " + this,
                    "Invalidate or close them first");
        }
        // Engines access memory only under their locks: once each lock was taken, no engine uses the region.
        engines.settle();
        domain.remove(this);
    }

    @Override
    public String toString() {
        return "memory region key 0x%08x, %d bytes at 0x%x, %s".formatted(localKey(), lengthBytes(), address(), access);
    }
}
