package io.rdma4j.hardware.device;

import io.rdma4j.hardware.abi.RegionFields;
import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.hardware.library.Native;
import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;

/** A memory region of a device: memory outside of the heap, at its own address. Its arena cannot be closed meanwhile. */
final class HardwareMemoryRegion extends HardwareObject implements MemoryRegion {
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

    static HardwareMemoryRegion register(
            HardwareProtectionDomain domain, long domainAddress, MemorySegment memory, Set<AccessFlag> access) {
        requireRegistrable(memory, access);
        long first = access.contains(AccessFlag.ZERO_BASED) ? 0 : memory.address();
        int bits = AccessFlag.bits(access) & ~AccessFlag.ZERO_BASED.bit();
        ArenaHold hold = hold(memory);
        try (Call call = new Call()) {
            String details = memory.byteSize() + " bytes, " + access;
            long region = call.create(
                    Function.REGISTER, details, domainAddress, memory.address(), memory.byteSize(), first, bits);
            Layouts.requireRegion(region, memory.address(), memory.byteSize());
            Set<AccessFlag> rights = access.isEmpty() ? Set.of() : EnumSet.copyOf(access);
            return new HardwareMemoryRegion(domain, region, memory, rights, first, hold);
        } catch (RuntimeException | Error failed) {
            hold.release();
            throw failed;
        }
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
