package io.rdma4j.verbs;

import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A change of a memory region by {@link MemoryRegion#reregister}. A null component changes nothing. Immutable. C:
 * {@code enum ibv_rereg_mr_flags} and the parameters of {@code ibv_rereg_mr} that they select.
 *
 * <p>Programs start with one of the methods {@code of…}, and add further changes with the methods {@code with…}.
 *
 * @param memory the new memory, as for {@link ProtectionDomain#register(MemorySegment, Set)}; null to keep the present
 *     one. C: {@code IBV_REREG_MR_CHANGE_TRANSLATION}
 * @param protectionDomain the new domain, of the same open device; null to keep the present one. C: {@code
 *     IBV_REREG_MR_CHANGE_PD}
 * @param access the complete new set of rights; null to keep the present ones. C: {@code IBV_REREG_MR_CHANGE_ACCESS}
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

    /** Returns a change of the rights to a complete new set; see {@link #access}. */
    public static MemoryRegionChange ofAccess(Set<AccessFlag> access) {
        return new MemoryRegionChange(null, null, access);
    }

    /** Returns a change of the rights to a complete new set; see {@link #access}. */
    public static MemoryRegionChange ofAccess(AccessFlag... access) {
        return ofAccess(Set.of(access));
    }

    /** Returns a copy that also changes the memory. */
    public MemoryRegionChange withMemory(MemorySegment value) {
        return new MemoryRegionChange(value, protectionDomain, access);
    }

    /** Returns a copy that also changes the protection domain. */
    public MemoryRegionChange withProtectionDomain(ProtectionDomain value) {
        return new MemoryRegionChange(memory, value, access);
    }

    /** Returns a copy that also changes the rights. */
    public MemoryRegionChange withAccess(Set<AccessFlag> value) {
        return new MemoryRegionChange(memory, protectionDomain, value);
    }

    /** Returns a copy that also changes the rights. */
    public MemoryRegionChange withAccess(AccessFlag... value) {
        return withAccess(Set.of(value));
    }

    /** Returns whether the change is empty; {@link MemoryRegion#reregister} refuses an empty change. */
    public boolean isEmpty() {
        return memory == null && protectionDomain == null && access == null;
    }
}
