package io.rdma4j.verbs.abi;

import org.jspecify.annotations.Nullable;

/**
 * Accesses registered memory that its owner, a program in C, may unmap or protect at any time, which Java cannot do without the end
 * of the process. A software device uses it for all memory once it is chosen. Thread safe.
 */
public abstract class MemoryAccess {
    private static volatile @Nullable MemoryAccess chosen;

    /** Creates an object that {@link #choose} takes. */
    protected MemoryAccess() {}

    /** Makes software devices use an object. Takes effect if no device has allocated a protection domain before. */
    public static void choose(MemoryAccess access) {
        chosen = access;
    }

    /** Returns the chosen object, or null. */
    public static @Nullable MemoryAccess chosen() {
        return chosen;
    }

    /**
     * Copies bytes between two places that may overlap.
     *
     * @return false if memory cannot be accessed; some of the bytes may have been copied
     */
    public abstract boolean copy(long from, long to, long bytes);

    /**
     * Exchanges or adds eight bytes, atomically if the address is a multiple of eight.
     *
     * @param compare the value that the memory must have to be exchanged
     * @param original receives the value of before
     * @return false if memory cannot be accessed
     */
    public abstract boolean exchangeOrAdd(
            long address, boolean isExchange, long compare, long exchangeOrAdd, long[] original);

    /**
     * Stores eight bytes, atomically if the address is a multiple of eight.
     *
     * @return false if memory cannot be accessed
     */
    public abstract boolean store(long address, long value);
}
