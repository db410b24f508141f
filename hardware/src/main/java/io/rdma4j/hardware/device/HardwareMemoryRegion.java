package io.rdma4j.hardware.device;

import io.rdma4j.hardware.abi.RegionFields;
import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.hardware.library.Native;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;

/** A memory region of a device: memory outside of the heap, at its own address. Its arena cannot be closed meanwhile. */
final class HardwareMemoryRegion extends HardwareObject implements MemoryRegion {
    /** The bits of an address in the smallest page. */
    private static final long PAGE_MASK = 0xfff;

    /** The vendor of siw, whose driver ignores the address that a registration chooses, without an error. */
    private static final int VENDOR_OF_SIW = 0x62_6d74;

    private final HardwareProtectionDomain domain;
    private final MemorySegment memory;
    private final Set<AccessFlag> access;
    private final ArenaHold hold;
    private final long first;
    private final int localKey;
    private final int remoteKey;

    private HardwareMemoryRegion(
            HardwareProtectionDomain domain,
            long region,
            MemorySegment memory,
            Set<AccessFlag> access,
            long first,
            ArenaHold hold) {
        super(domain.context(), Kind.MEMORY_REGION, region);
        this.domain = domain;
        this.memory = memory;
        this.access = access;
        this.first = first;
        this.hold = hold;
        localKey = Native.intAt(region + RegionFields.LOCAL_KEY);
        remoteKey = Native.intAt(region + RegionFields.REMOTE_KEY);
    }

    /**
     * Registers memory.
     *
     * @param first the address of the first byte for peers
     */
    static HardwareMemoryRegion register(
            HardwareProtectionDomain domain,
            long domainAddress,
            MemorySegment memory,
            long first,
            Set<AccessFlag> access) {
        requireRegistrable(memory, access);
        requireOnDemandPaging(domain.context(), access);
        requireFlush(domain.context(), access);
        if (first != memory.address()) {
            requireChosenAddresses(domain.context(), first);
        }
        int bits = AccessFlag.bits(access) & ~AccessFlag.ZERO_BASED.bit();
        String details = "%d bytes at 0x%x, %s".formatted(memory.byteSize(), first, access);
        ArenaHold hold = hold(memory);
        try (Call call = new Call()) {
            long region = call.create(
                    Function.REGISTER, details, domainAddress, memory.address(), memory.byteSize(), first, bits);
            Layouts.requireRegion(region, memory.address(), memory.byteSize());
            Set<AccessFlag> rights = access.isEmpty() ? Set.of() : EnumSet.copyOf(access);
            return new HardwareMemoryRegion(domain, region, memory, rights, first, hold);
        } catch (RdmaException refused) {
            hold.release();
            throw refused.errno() == Errno.EINVAL && isElsewhereInItsPage(memory, first)
                    ? explained(refused, details, memory)
                    : refused;
        } catch (RuntimeException | Error failed) {
            hold.release();
            throw failed;
        }
    }

    private static void requireOnDemandPaging(HardwareContext context, Set<AccessFlag> access) {
        if (access.contains(AccessFlag.ON_DEMAND) && !context.attributes().hasOnDemandPaging()) {
            throw new RdmaException(
                    "ibv_reg_mr",
                    Errno.EOPNOTSUPP,
                    context.device() + " cannot page memory on demand",
                    "Leave ON_DEMAND out: the memory is locked then");
        }
    }

    private static void requireFlush(HardwareContext context, Set<AccessFlag> access) {
        boolean lacksGlobal = access.contains(AccessFlag.FLUSH_GLOBAL)
                && !context.attributes().capabilities().contains(DeviceCapability.FLUSH_GLOBAL);
        boolean lacksPersistent = access.contains(AccessFlag.FLUSH_PERSISTENT)
                && !context.attributes().capabilities().contains(DeviceCapability.FLUSH_PERSISTENT);
        if (lacksGlobal || lacksPersistent) {
            throw new RdmaException(
                    "ibv_reg_mr",
                    Errno.EOPNOTSUPP,
                    context.device() + " does not execute FLUSHes of peers",
                    "Leave FLUSH_GLOBAL and FLUSH_PERSISTENT out, or use the software device");
        }
    }

    private static void requireChosenAddresses(HardwareContext context, long first) {
        if (context.attributes().vendorId() == VENDOR_OF_SIW) {
            throw new RdmaException(
                    "ibv_reg_mr_iova",
                    Errno.EOPNOTSUPP,
                    "%s ignores the address 0x%x and uses that of the memory".formatted(context.device(), first),
                    "Register without an address and ZERO_BASED, and send the address to the peer");
        }
    }

    private static boolean isElsewhereInItsPage(MemorySegment memory, long first) {
        return ((memory.address() ^ first) & PAGE_MASK) != 0;
    }

    private static RdmaException explained(RdmaException refused, String details, MemorySegment memory) {
        return new RdmaException(
                refused.operation(),
                Errno.EINVAL,
                details,
                "Choose an address with the offset of the memory in its page, 0x%x"
                        .formatted(memory.address() & PAGE_MASK),
                refused);
    }

    private static void requireRegistrable(MemorySegment memory, Set<AccessFlag> access) {
        String refusal = null;
        Errno errno = Errno.EINVAL;
        if (!memory.isNative()) {
            refusal = "memory on the heap moves, so that a device cannot write to it";
            errno = Errno.EOPNOTSUPP;
        } else if (!memory.isAccessibleBy(new Thread())) {
            refusal = "the memory is confined to one thread";
        } else if (memory.isReadOnly() && access.contains(AccessFlag.LOCAL_WRITE)) {
            refusal = "the memory is read-only";
        } else if ((access.contains(AccessFlag.REMOTE_WRITE) || access.contains(AccessFlag.REMOTE_ATOMIC))
                && !access.contains(AccessFlag.LOCAL_WRITE)) {
            refusal = "the rights " + access + " need LOCAL_WRITE";
        }
        if (refusal != null) {
            throw new RdmaException(
                    "ibv_reg_mr",
                    errno,
                    refusal,
                    "Allocate it from Arena.ofShared() or Arena.ofAuto(), and allow what the peer may do");
        }
    }

    private static ArenaHold hold(MemorySegment memory) {
        try {
            return ArenaHold.of(memory);
        } catch (IllegalStateException closed) {
            throw new RdmaException("ibv_reg_mr", Errno.EINVAL, "the arena of the memory is closed", "", closed);
        }
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public long address() {
        return first;
    }

    @Override
    public long lengthBytes() {
        return memory.byteSize();
    }

    @Override
    public int localKey() {
        return localKey;
    }

    @Override
    public int remoteKey() {
        return remoteKey;
    }

    @Override
    public Set<AccessFlag> access() {
        return access;
    }

    @Override
    void destroy(Call call, long address) {
        destroy(call, Function.DEREGISTER, address);
        hold.release();
    }

    @Override
    public String toString() {
        return "memory region of %d bytes, key 0x%x, of %s"
                .formatted(lengthBytes(), remoteKey, context().device());
    }
}
