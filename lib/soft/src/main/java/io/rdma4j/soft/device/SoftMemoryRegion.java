package io.rdma4j.soft.device;

import io.rdma4j.soft.engine.Engines;
import io.rdma4j.transport.MemoryTable;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChange;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.abi.RevocableRegion;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A memory region. */
final class SoftMemoryRegion implements MemoryRegion, RevocableRegion {
    static final String REREGISTER = "ibv_rereg_mr";

    private final Engines engines;

    /** Replaced under the lock of this object. */
    private volatile SoftRegistration registration;

    /** True once the memory is deregistered; read and written under the lock of this object. */
    private boolean closed;

    SoftMemoryRegion(SoftProtectionDomain domain, Set<AccessFlag> access, io.rdma4j.transport.MemoryRegion region) {
        engines = domain.softContext().engines();
        registration = new SoftRegistration(domain, Set.copyOf(access), region);
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return registration.domain();
    }

    /** Returns the region of the transport. */
    io.rdma4j.transport.MemoryRegion region() {
        return registration.region();
    }

    @Override
    public MemorySegment memory() {
        return region().memory();
    }

    @Override
    public long address() {
        return region().address();
    }

    @Override
    public long lengthBytes() {
        return region().lengthBytes();
    }

    @Override
    public int localKey() {
        return region().key();
    }

    @Override
    public int remoteKey() {
        return region().key();
    }

    @Override
    public RemoteMemory remote() {
        io.rdma4j.transport.MemoryRegion present = region(); // address, key and length of one registration
        return new RemoteMemory(present.address(), present.key(), present.lengthBytes());
    }

    @Override
    public Set<AccessFlag> access() {
        return registration.access();
    }

    // ---- changes ----

    @Override
    public void reregister(MemoryRegionChange change) {
        synchronized (this) {
            if (closed) {
                throw new ClosedException(REREGISTER, this + " is closed", "");
            }
            SoftRegistration old = registration;
            SoftProtectionDomain domain = domain(change, old);
            Set<AccessFlag> access = change.access() == null ? old.access() : change.access();
            MemorySegment memory = Objects.requireNonNullElse(change.memory(), memory());
            requirePossible(change, old, memory, access);
            SoftRegistration changed =
                    old.domain().change(this, domain, () -> changed(change.memory(), old, domain, access));
            if (changed == null) {
                throw busy(REREGISTER);
            }
            registration = changed;
        }
        // As in close. Not under the lock of this object: a thread that has the lock of an engine may want to close it.
        engines.settle();
    }

    private SoftProtectionDomain domain(MemoryRegionChange change, SoftRegistration old) {
        ProtectionDomain domain = change.protectionDomain();
        if (domain == null) {
            return old.domain();
        }
        if (domain instanceof SoftProtectionDomain soft
                && soft.context().equals(old.domain().context())) {
            return soft;
        }
        throw new RdmaException(
                REREGISTER,
                Errno.EINVAL,
                this + ": the protection domain is of another open device",
                "Create it by the DeviceContext of the region");
    }

    private void requirePossible(
            MemoryRegionChange change, SoftRegistration old, MemorySegment memory, Set<AccessFlag> access) {
        String refusal = SoftProtectionDomain.refusal(memory, access);
        if (change.isEmpty()) {
            refusal = "Change the memory, the protection domain or the access rights";
        } else if (change.memory() == null
                && access.contains(AccessFlag.ZERO_BASED) != old.access().contains(AccessFlag.ZERO_BASED)) {
            refusal = "ZERO_BASED changes the addresses: change the memory too, which can be the same";
        }
        if (refusal != null) {
            throw new RdmaException(
                    REREGISTER,
                    Errno.EINVAL,
                    "%s to %d bytes for %s".formatted(this, memory.byteSize(), access),
                    refusal);
        }
    }

    /** Changes the region in the table. Returns null if memory windows are bound to it. */
    private @Nullable SoftRegistration changed(
            @Nullable MemorySegment memory, SoftRegistration old, SoftProtectionDomain domain, Set<AccessFlag> access) {
        MemoryTable table = engines.memory();
        int flags = AccessFlag.bits(access);
        io.rdma4j.transport.MemoryRegion changed = memory == null
                ? table.change(old.region(), flags, domain.number())
                : table.move(old.region(), memory, domain.address(memory, access), flags, domain.number());
        return changed == null ? null : new SoftRegistration(domain, access, changed);
    }

    @Override
    public void setAccessible(boolean accessible) {
        engines.memory().setAccessible(region(), accessible);
        engines.settle();
    }

    private RdmaException busy(String operation) {
        return new RdmaException(
                operation,
                Errno.EBUSY,
                region().boundWindows() + " memory windows are bound to " + this,
                "Invalidate or close them first");
    }

    @Override
    public void close() {
        SoftProtectionDomain domain;
        synchronized (this) {
            if (!engines.memory().deregister(region())) {
                throw busy("ibv_dereg_mr");
            }
            closed = true;
            domain = registration.domain();
        }
        // Engines access memory only under their locks: once each lock was taken, no engine uses the region.
        engines.settle();
        domain.remove(this);
    }

    @Override
    public String toString() {
        return "memory region key 0x%08x, %d bytes at 0x%x, %s"
                .formatted(localKey(), lengthBytes(), address(), access());
    }
}
