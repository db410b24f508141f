package io.rdma4j.hardware.device;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.abi.Native;
import io.rdma4j.verbs.abi.VerbsStructures.RegionFields;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/**
 * The present properties of a memory region.
 *
 * @param domain the protection domain
 * @param memory the memory
 * @param access the rights
 * @param first the address of the first byte for peers
 * @param localKey the local key
 * @param remoteKey the key for peers
 * @param hold keeps the arena of the memory open
 * @param uses the calls in progress that post inline data, for which the driver reads the memory by its address
 */
record HardwareRegistration(
        HardwareProtectionDomain domain,
        MemorySegment memory,
        Set<AccessFlag> access,
        long first,
        int localKey,
        int remoteKey,
        ArenaHold hold,
        Handle uses) {
    /** Returns the registration of a C object after it got new memory. */
    static HardwareRegistration of(
            HardwareProtectionDomain domain,
            MemorySegment memory,
            Set<AccessFlag> access,
            long first,
            long region,
            ArenaHold hold) {
        return new HardwareRegistration(
                domain,
                memory,
                access,
                first,
                Native.intAt(region + RegionFields.LOCAL_KEY),
                Native.intAt(region + RegionFields.REMOTE_KEY),
                hold,
                new Handle(memory.address()));
    }

    /** Returns the registration of the same memory after a change of the C object. */
    HardwareRegistration changed(HardwareProtectionDomain newDomain, Set<AccessFlag> newAccess, long region) {
        return new HardwareRegistration(
                newDomain,
                memory,
                newAccess,
                first,
                Native.intAt(region + RegionFields.LOCAL_KEY),
                Native.intAt(region + RegionFields.REMOTE_KEY),
                hold,
                uses);
    }

    /** Waits until no driver reads the memory, and releases its arena. The device no longer uses the memory. */
    void end() {
        uses.close(_ -> hold.release());
    }
}
