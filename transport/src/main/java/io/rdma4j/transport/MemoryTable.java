package io.rdma4j.transport;

import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * All registered memory of a device by key. Keys are random 32-bit numbers, and one that was taken back is not given out
 * again before {@value RetiredKeys#MOST} others were.
 *
 * <p>Thread safe, since queue pairs may be driven by several threads at a time: looking a key up takes no lock, changes
 * exclude each other. But a thread that has just looked a region up may go on using its memory for the packet it is at:
 * whoever takes a region back waits until each thread that drives queue pairs has come to the end of that.
 */
public final class MemoryTable {
    private final IntSupplier random;
    private final RetiredKeys retired = new RetiredKeys();
    private final Map<Integer, MemoryWindow> windows = new HashMap<>();

    /** Replaced when there is no room, also when most of it is of what was removed. Not volatile: see {@link KeyedRegions}. */
    private KeyedRegions regions = new KeyedRegions(64);

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
    public synchronized int size() {
        return size;
    }

    /** Number of memory windows. */
    public synchronized int windowCount() {
        return windows.size();
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
    public synchronized MemoryRegion register(MemorySegment memory, long address, int access, int protectionDomain) {
        boolean remoteChanges = (access & (AccessFlags.REMOTE_WRITE | AccessFlags.REMOTE_ATOMIC)) != 0;
        if (remoteChanges && (access & AccessFlags.LOCAL_WRITE) == 0) {
            throw new IllegalArgumentException("remote write and remote atomic need local write");
        }
        if (Long.compareUnsigned(address + memory.byteSize(), address) < 0) {
            throw new IllegalArgumentException("the addresses of the region wrap around");
        }
        MemoryRegion region = new MemoryRegion(memory, address, unusedKey(), access, protectionDomain);
        enter(region);
        size++;
        return region;
    }

    private void enter(MemoryRegion region) {
        if (regions.isFull()) {
            regions = new KeyedRegions(regions);
        }
        regions.add(region);
    }

    /**
     * Takes a region back, unless a window has a range of it: no request under its key is served any more. Taking back
     * twice does nothing.
     *
     * @return false if a window has a range of it
     */
    public synchronized boolean deregister(MemoryRegion region) {
        if (region.boundWindows() > 0) {
            return false;
        }
        if (region.isValid()) {
            region.invalidate();
            retired.add(region.key());
            regions.remove(region);
            size--;
        }
        return true;
    }

    // ---- windows ----

    /**
     * Makes a memory window without a range.
     *
     * @param typeTwo whether it is of type 2
     * @param protectionDomain number of the protection domain
     */
    public synchronized MemoryWindow allocateWindow(boolean typeTwo, int protectionDomain) {
        int key;
        do {
            key = random.getAsInt() & ~0xff;
        } while (key == 0 || windows.containsKey(key >>> 8) || retired.contains(key) || isPrefixOfRegion(key));
        MemoryWindow window = new MemoryWindow(typeTwo, key, protectionDomain);
        windows.put(key >>> 8, window);
        return window;
    }

    private boolean isPrefixOfRegion(int key) {
        for (int low = 0; low <= 0xff; low++) {
            if (find(key | low) != null) {
                return true;
            }
        }
        return false;
    }

    /** Takes a window back with its range. Taking back twice does nothing. */
    public synchronized void deallocate(MemoryWindow window) {
        if (window.isValid()) {
            unbind(window);
            window.close();
            windows.remove(window.key() >>> 8);
            retired.add(window.key());
        }
    }

    /** Gives a window a range, the rules having been kept; the caller excludes other changes. */
    void bind(MemoryWindow window, MemoryRegion range, MemoryRegion region) {
        enter(range);
        region.changeBoundWindows(1);
        window.set(range.key(), range, region);
    }

    /** Takes a window's range away, if it has one; the caller excludes other changes. */
    void unbind(MemoryWindow window) {
        MemoryRegion range = window.range();
        MemoryRegion region = window.region();
        if (range != null && region != null) {
            range.invalidate();
            regions.remove(range);
            region.changeBoundWindows(-1);
            window.set(window.key(), null, null);
        }
    }

    /**
     * Takes back the key of a window of type 2 that a queue pair has bound.
     *
     * @return whether it was one; regions and windows of type 1 cannot be taken back so
     */
    synchronized boolean invalidate(int key, QueuePairMachine queuePair) {
        MemoryRegion range = find(key);
        MemoryWindow window = range == null ? null : range.window();
        if (window == null || range == null || range.user() != queuePair) {
            return false;
        }
        unbind(window);
        return true;
    }

    /** Takes back all that a queue pair has bound and that only its peer can use. */
    synchronized void unbindAll(QueuePairMachine queuePair) {
        for (MemoryWindow window : windows.values()) {
            MemoryRegion range = window.range();
            if (range != null && range.user() == queuePair) {
                unbind(window);
            }
        }
    }

    /** The region, or the range of a window, under a key, or null. */
    public @Nullable MemoryRegion find(int key) {
        return regions.find(key);
    }

    /** The region or range of a key, if the queue pair's peer has the right for all the bytes; else null. */
    @Nullable
    MemoryRegion find(int key, long address, long length, int right, QueuePairMachine queuePair) {
        MemoryRegion region = find(key);
        boolean usable = region != null
                && region.isValid()
                && region.protectionDomain() == queuePair.receives.remoteProtectionDomain()
                && region.isFor(queuePair)
                && region.allows(right)
                && region.containsAddress(address, length);
        return usable ? region : null;
    }

    private int unusedKey() {
        int key;
        do {
            key = random.getAsInt();
        } while (key == 0 || find(key) != null || retired.contains(key) || windows.containsKey(key >>> 8));
        return key;
    }

    /** Places for keys, used or not. */
    int ring() {
        return regions.ring();
    }
}
