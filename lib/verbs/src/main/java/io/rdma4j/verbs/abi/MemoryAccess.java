package io.rdma4j.verbs.abi;

import org.jspecify.annotations.Nullable;

/**
 * Accesses registered memory that its owner, a C program, may unmap or protect at any time. A plain Java access would
 * then crash the process. After an object is chosen, software devices use it for all memory. Thread safe.
 */
public abstract class MemoryAccess {
    private static volatile @Nullable MemoryAccess chosen;

    /** Creates an object for {@link #choose}. */
    protected MemoryAccess() {}

    /** Makes software devices use an object. Has an effect only before a device allocates a protection domain. */
    public static void choose(MemoryAccess access) {
        chosen = access;
    }

    /** Returns the chosen object, or null. */
    public static @Nullable MemoryAccess chosen() {
        return chosen;
    }

    /**
     * Copies bytes between two ranges that may overlap.
     *
     * @return false if memory cannot be accessed; some of the bytes may have been copied
     */
    public abstract boolean copy(long from, long to, long bytes);

    /**
     * Exchanges eight bytes or adds to them, atomically if the address is a multiple of eight.
     *
     * @param compare the value that the memory must have for an exchange
     * @param original receives the old value
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
