package io.rdma4j.verbs;

import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A change of a memory region by {@link MemoryRegion#reregister}. Values that are null remain as they are. Immutable. C: {@code
 * enum ibv_rereg_mr_flags} and the parameters of {@code ibv_rereg_mr} that they select.
 *
 * <p>Programs start with one of the methods {@code of…}, and add further changes by the methods {@code with…}.
 *
 * @param memory the memory that takes the place of the present one, as for {@link ProtectionDomain#register(MemorySegment, Set)};
 *     null to keep the present one. C: {@code IBV_REREG_MR_CHANGE_TRANSLATION}
 * @param protectionDomain the new domain, of the same open device; null to keep the present one. C: {@code
 *     IBV_REREG_MR_CHANGE_PD}
 * @param access all rights that the region then has, not only additional ones; null to keep the present ones. C: {@code
 *     IBV_REREG_MR_CHANGE_ACCESS}
 */
public record MemoryRegionChange(
        @Nullable MemorySegment memory,
        @Nullable ProtectionDomain protectionDomain,
        @Nullable Set<AccessFlag> access) {
    /** Creates a change; the set of rights is copied. */
    public MemoryRegionChange {
        access = access == null ? null : Set.copyOf(access);
    }

    /** Returns a change of the memory. */
    public static MemoryRegionChange ofMemory(MemorySegment memory) {
        return new MemoryRegionChange(memory, null, null);
    }

    /** Returns a change of the protection domain. */
    public static MemoryRegionChange ofProtectionDomain(ProtectionDomain domain) {
        return new MemoryRegionChange(null, domain, null);
    }

    /** Returns a change of the rights to these; see {@link #access}. */
    public static MemoryRegionChange ofAccess(Set<AccessFlag> access) {
        return new MemoryRegionChange(null, null, access);
    }

    /** Returns a change of the rights to these; see {@link #access}. */
    public static MemoryRegionChange ofAccess(AccessFlag... access) {
        return ofAccess(Set.of(access));
    }

    /** Returns a copy that changes the memory too. */
    public MemoryRegionChange withMemory(MemorySegment value) {
        return new MemoryRegionChange(value, protectionDomain, access);
    }

    /** Returns a copy that changes the protection domain too. */
    public MemoryRegionChange withProtectionDomain(ProtectionDomain value) {
        return new MemoryRegionChange(memory, value, access);
    }

    /** Returns a copy that changes the rights too. */
    public MemoryRegionChange withAccess(Set<AccessFlag> value) {
        return new MemoryRegionChange(memory, protectionDomain, value);
    }

    /** Returns a copy that changes the rights too. */
    public MemoryRegionChange withAccess(AccessFlag... value) {
        return withAccess(Set.of(value));
    }

    /** Returns whether this changes nothing, which {@link MemoryRegion#reregister} refuses. */
    public boolean isEmpty() {
        return memory == null && protectionDomain == null && access == null;
    }
}
