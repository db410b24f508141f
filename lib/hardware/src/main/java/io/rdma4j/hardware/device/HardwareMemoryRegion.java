package io.rdma4j.hardware.device;

import io.rdma4j.hardware.library.Call;
import io.rdma4j.hardware.library.Function;
import io.rdma4j.hardware.library.Remedies;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.MemoryRegionChange;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.abi.Flags;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A memory region of a device, in memory outside of the heap. The memory's arena cannot be closed meanwhile. */
final class HardwareMemoryRegion extends HardwareObject implements MemoryRegion {
    /** The bits of an address in the smallest page. */
    private static final long PAGE_MASK = 0xfff;

    private static final String REREGISTER = Function.REREGISTER.symbol();

    /** Replaced under this object's lock. */
    private volatile HardwareRegistration registration;

    /** Memory that the device may use, although changing the region to it has failed. Guarded by this object's lock. */
    private final List<ArenaHold> doubtful = new ArrayList<>();

    private HardwareMemoryRegion(HardwareProtectionDomain domain, long region, HardwareRegistration registration) {
        super(domain.context(), Kind.MEMORY_REGION, region);
        this.registration = registration;
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
        RegistrationChecks.require("ibv_reg_mr", domain.context(), memory, access);
        if (first != memory.address()) {
            RegistrationChecks.requireChosenAddresses(domain.context(), first);
        }
        int bits = bits(access);
        String details = "%d bytes at 0x%x, %s".formatted(memory.byteSize(), first, access);
        ArenaHold hold = RegistrationChecks.hold("ibv_reg_mr", memory);
        try (Call call = new Call()) {
            long region = call.create(
                    Function.REGISTER, details, domainAddress, memory.address(), memory.byteSize(), first, bits);
            return call.useOrDestroy(region, Function.DEREGISTER, () -> {
                Layouts.requireRegion(region, memory.address(), memory.byteSize());
                Set<AccessFlag> rights = access.isEmpty() ? Set.of() : EnumSet.copyOf(access);
                return new HardwareMemoryRegion(
                        domain, region, HardwareRegistration.of(domain, memory, rights, first, region, hold));
            });
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

    /** Returns the access flags for C, without ZERO_BASED: the address, even if it is 0, is a separate parameter. */
    private static int bits(Set<AccessFlag> access) {
        return AccessFlag.bits(access) & ~AccessFlag.ZERO_BASED.bit();
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

    /** Returns the present properties. */
    HardwareRegistration registration() {
        return registration;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return registration.domain();
    }

    @Override
    public MemorySegment memory() {
        return registration.memory();
    }

    @Override
    public long address() {
        return registration.first();
    }

    @Override
    public long lengthBytes() {
        return registration.memory().byteSize();
    }

    @Override
    public int localKey() {
        return registration.localKey();
    }

    @Override
    public int remoteKey() {
        return registration.remoteKey();
    }

    @Override
    public RemoteMemory remote() {
        HardwareRegistration present = registration; // address, key and length of one registration
        return new RemoteMemory(
                present.first(), present.remoteKey(), present.memory().byteSize());
    }

    @Override
    public Set<AccessFlag> access() {
        return registration.access();
    }

    // ---- changes ----

    @Override
    public void reregister(MemoryRegionChange change) {
        long region = handle().enter(REREGISTER, this);
        try {
            HardwareProtectionDomain domain = change.protectionDomain() == null
                    ? registration.domain()
                    : registration.domain().own(HardwareProtectionDomain.class, change.protectionDomain(), REREGISTER);
            long domainAddress = domain.handle().enter(REREGISTER, domain);
            try {
                synchronized (this) {
                    reregister(change, region, domain, domainAddress);
                }
            } finally {
                domain.handle().exit();
            }
        } finally {
            handle().exit();
        }
    }

    private void reregister(
            MemoryRegionChange change, long region, HardwareProtectionDomain domain, long domainAddress) {
        HardwareRegistration old = registration;
        MemorySegment memory = change.memory();
        Set<AccessFlag> access = change.access() == null ? old.access() : change.access();
        requirePossible(change, old, access);
        RegistrationChecks.require(REREGISTER, context(), memory == null ? old.memory() : memory, access);
        if (memory == null) {
            change(change, region, domainAddress, access, null);
            registration = old.changed(domain, access, region);
            return;
        }
        ArenaHold hold = RegistrationChecks.hold(REREGISTER, memory);
        change(change, region, domainAddress, access, hold);
        registration = HardwareRegistration.of(domain, memory, access, memory.address(), region, hold);
        old.end();
    }

    private void requirePossible(MemoryRegionChange change, HardwareRegistration old, Set<AccessFlag> access) {
        boolean isZeroBased = access.contains(AccessFlag.ZERO_BASED);
        if (change.isEmpty()) {
            throw new RdmaException(
                    REREGISTER,
                    Errno.EINVAL,
                    this + " without a change",
                    "Change the memory, the protection domain or the access rights");
        }
        if (change.memory() == null && isZeroBased != old.access().contains(AccessFlag.ZERO_BASED)) {
            throw new RdmaException(
                    REREGISTER,
                    Errno.EINVAL,
                    this + " to " + access,
                    "ZERO_BASED changes the addresses: change the memory too, which can be the same");
        }
        if (change.memory() != null && isZeroBased) { // C has no parameter for the address
            throw new RdmaException(
                    REREGISTER,
                    Errno.EOPNOTSUPP,
                    this + " to other memory with addresses from 0",
                    "Leave ZERO_BASED out, or register the memory again and close this region");
        }
    }

    /** Changes the C object. If it fails, the new memory is released, unless the device may use it. */
    private void change(
            MemoryRegionChange change,
            long region,
            long domainAddress,
            Set<AccessFlag> access,
            @Nullable ArenaHold hold) {
        MemorySegment memory = change.memory();
        int flags = (memory == null ? 0 : Flags.CHANGE_MEMORY)
                | (change.protectionDomain() == null ? 0 : Flags.CHANGE_PROTECTION_DOMAIN)
                | (change.access() == null ? 0 : Flags.CHANGE_ACCESS);
        try (Call call = new Call()) {
            int result = (int) call.result(
                    Function.REREGISTER,
                    region,
                    flags,
                    change.protectionDomain() == null ? 0 : domainAddress,
                    memory == null ? 0 : memory.address(),
                    memory == null ? 0 : memory.byteSize(),
                    change.access() == null ? 0 : bits(access));
            // FORK_ERROR_OF_OLD_MEMORY means: the change is made, but forked processes lack the old memory.
            if (result != 0 && result != Flags.REREGISTER_FORK_ERROR_OF_OLD_MEMORY) {
                throw failure(result, Errno.of(call.errno()), memory, hold);
            }
        }
    }

    private RdmaException failure(int result, Errno errno, @Nullable MemorySegment memory, @Nullable ArenaHold hold) {
        // A library or a kernel without the call returns EOPNOTSUPP before it changes anything.
        boolean isUnchanged = result == Flags.REREGISTER_INPUT_ERROR
                || result == Flags.REREGISTER_FORK_ERROR_OF_NEW_MEMORY
                || errno == Errno.EOPNOTSUPP;
        if (hold != null) {
            if (isUnchanged) {
                hold.release();
            } else {
                doubtful.add(hold);
            }
        }
        String remedy = switch (errno) {
            case EOPNOTSUPP -> "The driver cannot change this: register the memory again, and close this region";
            case EINVAL -> memory != null && memory.byteSize() == 0 ? "Choose memory of at least one byte" : "";
            default -> Remedies.of(REREGISTER, errno);
        };
        RdmaException ofDriver = new RdmaException(REREGISTER, errno, toString(), remedy);
        return isUnchanged
                ? ofDriver
                : new RdmaException(
                        REREGISTER,
                        Errno.EIO,
                        this + ": the driver failed during the change with " + errno,
                        "The region must not be used any more: close it, and register the memory again",
                        ofDriver);
    }

    @Override
    void destroy(Call call, long address) {
        destroy(call, Function.DEREGISTER, address);
        registration.end();
        synchronized (this) {
            doubtful.forEach(ArenaHold::release);
            doubtful.clear();
        }
    }

    @Override
    public String toString() {
        return "memory region of %d bytes, key 0x%x, of %s"
                .formatted(lengthBytes(), remoteKey(), context().device());
    }
}
