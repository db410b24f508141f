package io.rdma4j.soft.device;

import io.rdma4j.transport.ForeignMemory;
import io.rdma4j.verbs.abi.MemoryAccess;

/** Gives the protocol the {@link MemoryAccess} of a C program. */
final class ProgramMemory extends ForeignMemory {
    private final MemoryAccess access;

    private ProgramMemory(MemoryAccess access) {
        this.access = access;
    }

    /** Makes the protocol use the access that was chosen, if one was. */
    static void useChosenAccess() {
        MemoryAccess access = MemoryAccess.chosen();
        if (access != null) {
            ForeignMemory.choose(new ProgramMemory(access));
        }
    }

    @Override
    protected boolean copy(long from, long to, long bytes) {
        return access.copy(from, to, bytes);
    }

    @Override
    protected boolean exchangeOrAdd(
            long address, boolean isExchange, long compare, long exchangeOrAdd, long[] original) {
        return access.exchangeOrAdd(address, isExchange, compare, exchangeOrAdd, original);
    }

    @Override
    protected boolean store(long address, long value) {
        return access.store(address, value);
    }
}
