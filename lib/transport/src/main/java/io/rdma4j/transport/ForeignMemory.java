package io.rdma4j.transport;

import org.jspecify.annotations.Nullable;

/**
 * Accesses memory that does not belong to Java, and that its owner may unmap or protect at any time. Without such an
 * object, memory is accessed through its segment, which checks that its arena is open. Thread safe.
 */
public abstract class ForeignMemory {
    private static volatile @Nullable ForeignMemory chosen;

    /** Creates an object that {@link #choose} takes. */
    protected ForeignMemory() {}

    /** Sets the object through which all native memory is accessed. Call it before the first queue pair exists. */
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
