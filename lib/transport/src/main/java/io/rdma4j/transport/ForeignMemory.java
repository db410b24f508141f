package io.rdma4j.transport;

import org.jspecify.annotations.Nullable;

/**
 * Accesses memory whose owner is not Java and may unmap or protect it at any time. Without one, memory is accessed by its segment,
 * whose arena knows whether it is there. Thread safe.
 */
public abstract class ForeignMemory {
    private static volatile @Nullable ForeignMemory chosen;

    /** Creates an object that {@link #choose} takes. */
    protected ForeignMemory() {}

    /** Makes all native memory accessed by an object. To be called before the first queue pair exists. */
    public static void choose(ForeignMemory memory) {
        chosen = memory;
    }

    static @Nullable ForeignMemory chosen() {
        return chosen;
    }

    /** Copies bytes. Returns false if memory cannot be accessed. */
    protected abstract boolean copy(long from, long to, long bytes);

    /** Exchanges or adds eight bytes. Returns false if memory cannot be accessed. */
    protected abstract boolean exchangeOrAdd(
            long address, boolean isExchange, long compare, long exchangeOrAdd, long[] original);

    /** Stores eight bytes. Returns false if memory cannot be accessed. */
    protected abstract boolean store(long address, long value);
}
