package io.rdma4j.hardware.device;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** Checks memory and access rights before registration. The parameter {@code operation} is the C name, for messages. */
final class RegistrationChecks {
    /** The vendor ID of siw. Its driver ignores a chosen address without an error. */
    private static final int VENDOR_OF_SIW = 0x62_6d74;

    private RegistrationChecks() {}

    /** Checks that a device can register this memory with these rights. */
    static void require(String operation, HardwareContext context, MemorySegment memory, Set<AccessFlag> access) {
        requireRegistrable(operation, memory, access);
        requireOnDemandPaging(operation, context, access);
        requireFlush(operation, context, access);
    }

    private static void requireOnDemandPaging(String operation, HardwareContext context, Set<AccessFlag> access) {
        if (access.contains(AccessFlag.ON_DEMAND) && !context.attributes().hasOnDemandPaging()) {
            throw new RdmaException(
                    operation,
                    Errno.EOPNOTSUPP,
                    context.device() + " cannot page memory on demand",
                    "Leave ON_DEMAND out: the memory is then locked");
        }
    }

    private static void requireFlush(String operation, HardwareContext context, Set<AccessFlag> access) {
        boolean lacksGlobal = access.contains(AccessFlag.FLUSH_GLOBAL)
                && !context.attributes().capabilities().contains(DeviceCapability.FLUSH_GLOBAL);
        boolean lacksPersistent = access.contains(AccessFlag.FLUSH_PERSISTENT)
                && !context.attributes().capabilities().contains(DeviceCapability.FLUSH_PERSISTENT);
        if (lacksGlobal || lacksPersistent) {
            throw new RdmaException(
                    operation,
                    Errno.EOPNOTSUPP,
                    context.device() + " does not execute FLUSHes of peers",
                    "Leave FLUSH_GLOBAL and FLUSH_PERSISTENT out, or use the software device");
        }
    }

    /** Checks that the driver can register memory at a chosen address. */
    static void requireChosenAddresses(HardwareContext context, long first) {
        if (context.attributes().vendorId() == VENDOR_OF_SIW) {
            throw new RdmaException(
                    "ibv_reg_mr_iova",
                    Errno.EOPNOTSUPP,
                    "%s ignores the address 0x%x and uses the memory's".formatted(context.device(), first),
                    "Register without an address and ZERO_BASED, and send the address to the peer");
        }
    }

    private static void requireRegistrable(String operation, MemorySegment memory, Set<AccessFlag> access) {
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
                    operation,
                    errno,
                    refusal,
                    "Allocate it from Arena.ofShared() or Arena.ofAuto(), and grant the required rights");
        }
    }

    /** Holds the arena of memory that is about to be registered. */
    static ArenaHold hold(String operation, MemorySegment memory) {
        try {
            return ArenaHold.of(memory);
        } catch (IllegalStateException closed) {
            throw new RdmaException(operation, Errno.EINVAL, "the arena of the memory is closed", "", closed);
        }
    }
}
