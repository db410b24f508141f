package io.rdma4j.verbs.spi;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** Checks the address that a program chooses for a memory region. For providers. */
public final class RegionAddress {
    private RegionAddress() {}

    /**
     * Checks the arguments of {@link io.rdma4j.verbs.ProtectionDomain#register(MemorySegment, long, Set)}.
     *
     * @throws RdmaException {@code EINVAL} if the rights contain {@link AccessFlag#ZERO_BASED}, or the addresses of the
     *     region exceed 64 bits
     */
    public static void require(MemorySegment memory, long address, Set<AccessFlag> access) {
        String remedy = null;
        if (access.contains(AccessFlag.ZERO_BASED)) {
            remedy = "ZERO_BASED chooses the address 0: leave it out";
        } else if (Long.compareUnsigned(address + memory.byteSize(), address) < 0) {
            remedy = "The addresses of the region end at 2^64: choose a lower one";
        }
        if (remedy != null) {
            String details = "%d bytes at 0x%x, %s".formatted(memory.byteSize(), address, access);
            throw new RdmaException("ibv_reg_mr_iova", Errno.EINVAL, details, remedy);
        }
    }
}
