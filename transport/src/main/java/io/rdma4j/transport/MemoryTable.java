package io.rdma4j.transport;

import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * All registered memory of a device by key. Keys are random 32-bit numbers, and a key that was taken back is not given
 * out again soon. Not thread safe: one thread at a time, the same that drives the queue pairs.
 */
public final class MemoryTable {
    /** Keys taken back most recently, which are not given out again; a power of two. */
    private static final int REMEMBERED_KEYS = 1 << 12;

    private final IntSupplier random;
    private final int[] retired = new int[REMEMBERED_KEYS];
    private int retiredCount;
    private @Nullable MemoryRegion[] slots = new @Nullable MemoryRegion[64];
    private int size;

    /**
     * Creates an empty table.
     *
     * @param random source of keys; unpredictable to peers in production, seeded in a simulation
     */
    public MemoryTable(IntSupplier random) {
        this.random = random;
    }

    /** Number of regions. */
    public int size() {
        return size;
    }

    /**
     * Registers memory under a new key.
     *
     * @param memory the memory; zero bytes are allowed
     * @param address first address as peers name it; {@code address + size} must not wrap around
     * @param access bits of {@link AccessFlags}; remote write and remote atomic need local write
     * @param protectionDomain number of the protection domain
     * @throws IllegalArgumentException if the rights contradict each other or the addresses wrap around
     */
    public MemoryRegion register(MemorySegment memory, long address, int access, int protectionDomain) {
        boolean remoteChanges = (access & (AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC)) != 0;
        if (remoteChanges && (access & AccessFlags.LOCAL_WRITE) == 0) {
            throw new IllegalArgumentException("remote write and remote atomic need local write");
        }
        if (Long.compareUnsigned(address + memory.byteSize(), address) < 0) {
            throw new IllegalArgumentException("the addresses of the region wrap around");
        }
        MemoryRegion region = new MemoryRegion(memory, address, unusedKey(), access, protectionDomain);
        if ((size + 1) * 2 > slots.length) {
            grow();
        }
        insert(region);
        size++;
        return region;
    }

    /** Takes a region back: no request under its key is served any more. Taking back twice does nothing. */
    public void deregister(MemoryRegion region) {
        if (!region.isValid()) {
            return;
        }
        region.invalidate();
        retired[retiredCount++ & (REMEMBERED_KEYS - 1)] = region.key();
        remove(region);
        size--;
    }

    /** The region under a key, or null. */
    public @Nullable MemoryRegion find(int key) {
        int mask = slots.length - 1;
        for (int i = slot(key); ; i = (i + 1) & mask) {
            MemoryRegion region = slots[i];
            if (region == null || region.key() == key) {
                return region;
            }
        }
    }

    /** The region of a key, if it is of the domain and gives the right for the whole range; else null. */
    @Nullable
    MemoryRegion find(int key, long address, long length, int right, int protectionDomain) {
        MemoryRegion region = find(key);
        boolean usable = region != null
                && region.isValid()
                && region.protectionDomain() == protectionDomain
                && region.allows(right)
                && region.containsAddress(address, length);
        return usable ? region : null;
    }

    private int unusedKey() {
        int key;
        do {
            key = random.getAsInt();
        } while (key == 0 || find(key) != null || wasRetired(key));
        return key;
    }

    private boolean wasRetired(int key) {
        int remembered = Math.min(retiredCount, REMEMBERED_KEYS);
        for (int i = 0; i < remembered; i++) {
            if (retired[i] == key) {
                return true;
            }
        }
        return false;
    }

    private int slot(int key) {
        return (key * 0x9e37_79b9 >>> 7) & (slots.length - 1);
    }

    private void insert(MemoryRegion region) {
        int mask = slots.length - 1;
        int i = slot(region.key());
        while (slots[i] != null) {
            i = (i + 1) & mask;
        }
        slots[i] = region;
    }

    /** Removes by shifting back what was displaced, so that no chain of probes breaks. */
    private void remove(MemoryRegion region) {
        int mask = slots.length - 1;
        int hole = slot(region.key());
        while (slots[hole] != region) {
            hole = (hole + 1) & mask;
        }
        slots[hole] = null;
        for (int i = (hole + 1) & mask; slots[i] != null; i = (i + 1) & mask) {
            MemoryRegion moved = slots[i];
            slots[i] = null;
            if (moved != null) {
                insert(moved);
            }
        }
    }

    private void grow() {
        @Nullable MemoryRegion[] old = slots;
        slots = new @Nullable MemoryRegion[old.length * 2];
        for (MemoryRegion region : old) {
            if (region != null) {
                insert(region);
            }
        }
    }
}
