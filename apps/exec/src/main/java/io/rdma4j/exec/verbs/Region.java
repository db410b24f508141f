package io.rdma4j.exec.verbs;

import io.rdma4j.exec.bridge.Failures;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChange;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.abi.RevocableRegion;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Registered memory. C: {@code struct ibv_mr}. Thread safe. */
final class Region implements AutoCloseable {
    private Domain domain;
    private MemoryRegion region;
    private LocalMemory memory;

    Region(Domain domain, MemoryRegion region) {
        this.domain = domain;
        this.region = region;
        memory = new LocalMemory(region);
        domain.keys().add(memory);
    }

    /** Registers memory. Its first byte has address 0 if the rights are zero-based, otherwise the given address. */
    static MemoryRegion register(Domain domain, MemorySegment memory, long address, Set<AccessFlag> access) {
        return access.contains(AccessFlag.ZERO_BASED)
                ? domain.domain().register(memory, access)
                : domain.domain().register(memory, address, access);
    }

    synchronized MemoryRegion region() {
        return region;
    }

    /**
     * Changes the rights, the domain, or both.
     *
     * @param newDomain the domain of the change, or null to keep the current one
     * @throws RdmaException like {@link MemoryRegion#reregister}; the region is then unchanged
     */
    synchronized void change(MemoryRegionChange change, @Nullable Domain newDomain) {
        region.reregister(change);
        replace(newDomain == null ? domain : newDomain, region);
    }

    /**
     * Replaces the memory. As in C, requests address it by the addresses of the process. {@link
     * MemoryRegion#reregister} would choose other addresses, so this method registers the new memory and deregisters
     * the old memory. The keys change, as with {@code reregister}.
     *
     * @param newDomain the new domain, or null to keep the current one
     * @param newAccess the new rights, or null to keep the current ones
     * @throws RdmaException like {@link MemoryRegion#reregister}; the region is then unchanged
     */
    synchronized void move(MemorySegment newMemory, @Nullable Domain newDomain, @Nullable Set<AccessFlag> newAccess) {
        Domain target = newDomain == null ? domain : newDomain;
        Set<AccessFlag> access = newAccess == null ? region.access() : newAccess;
        MemoryRegion moved = register(target, newMemory, newMemory.address(), access);
        try {
            region.close();
        } catch (RdmaException busy) {
            moved.close();
            throw busy;
        }
        replace(target, moved);
    }

    private void replace(Domain newDomain, MemoryRegion newRegion) {
        domain.keys().remove(memory);
        domain = newDomain;
        region = newRegion;
        memory = new LocalMemory(newRegion);
        newDomain.keys().add(memory);
    }

    /**
     * Ends access to the memory, or allows it again; see {@link RevocableRegion}. {@link #move} assigns other memory.
     *
     * @throws RdmaException {@code EOPNOTSUPP} if the device pins memory
     */
    synchronized void setAccessible(boolean accessible) {
        if (!(region instanceof RevocableRegion revocable)) {
            throw Failures.unsupported("munmap", region + " is not memory of a software device");
        }
        revocable.setAccessible(accessible);
    }

    @Override
    public synchronized void close() {
        region.close();
        domain.keys().remove(memory);
    }
}
