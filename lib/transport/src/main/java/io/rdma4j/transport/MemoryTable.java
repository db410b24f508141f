package io.rdma4j.transport;

import io.rdma4j.value.AccessFlag;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * All registered memory of a device, by key. Keys are random 32-bit numbers. An invalidated key is not reused before
 * {@value RetiredKeys#MIN_REMEMBERED} other keys have been invalidated.
 *
 * <p>Thread safe, since several threads may drive queue pairs at a time: lookups take no lock, modifications are
 * mutually exclusive. A thread that has looked up a region may keep using its memory until it has processed the current
 * packet. A thread that deregisters a region must therefore wait until each thread driving queue pairs has passed that
 * point.
 */
public final class MemoryTable {
    private final IntSupplier random;
    private final RetiredKeys retired = new RetiredKeys();
    private final Map<Integer, MemoryWindow> windows = new HashMap<>();

    /**
     * Replaced by a copy when full, even if most of the entries are removed regions. Not volatile: see
     * {@link KeyedRegions}.
     */
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

    /** Returns the number of regions. */
    public synchronized int size() {
        return size;
    }

    /** Returns the number of memory windows. */
    public synchronized int windowCount() {
        return windows.size();
    }

    /**
     * Registers memory under a new key.
     *
     * @param memory the memory; zero bytes are allowed
     * @param address first address, as peers use it; {@code address + size} must not wrap around
     * @param access bits of {@link AccessFlag}; remote write and remote atomic require local write
     * @param protectionDomain number of the protection domain
     * @throws IllegalArgumentException if the rights are inconsistent or the addresses wrap around
     */
    public synchronized MemoryRegion register(MemorySegment memory, long address, int access, int protectionDomain) {
        requireConsistent(access);
        if (Long.compareUnsigned(address + memory.byteSize(), address) < 0) {
            throw new IllegalArgumentException("the addresses of the region wrap around");
        }
        MemoryRegion region = new MemoryRegion(memory, address, unusedKey(), access, protectionDomain);
        insert(region);
        size++;
        return region;
    }

    private static void requireConsistent(int access) {
        boolean remoteChanges = (access & (AccessFlag.REMOTE_WRITE.bit() | AccessFlag.REMOTE_ATOMIC.bit())) != 0;
        if (remoteChanges && (access & AccessFlag.LOCAL_WRITE.bit()) == 0) {
            throw new IllegalArgumentException("remote write and remote atomic need local write");
        }
    }

    private void insert(MemoryRegion region) {
        if (regions.isFull()) {
            regions = new KeyedRegions(regions);
        }
        regions.add(region);
    }

    /**
     * Deregisters a region unless a window is bound to it; requests with its key are no longer served. Deregistering a
     * second time has no effect.
     *
     * @return {@code false} if a window is bound to the region
     */
    public synchronized boolean deregister(MemoryRegion registered) {
        MemoryRegion region = registered.latest();
        if (region.boundWindows() > 0) {
            return false;
        }
        if (!region.hasEnded()) {
            region.end();
            retired.add(region.key());
            regions.remove(region);
            size--;
        }
        return true;
    }

    /**
     * Withholds registered memory from peers and work requests, also through windows, or makes it accessible again
     * (decision 059). Key, rights and windows remain. As after {@link #deregister}, a thread that drives queue pairs
     * may still use the memory for its current packet.
     */
    public synchronized void setAccessible(MemoryRegion registered, boolean accessible) {
        MemoryRegion region = registered.latest();
        region.setWithheld(!accessible);
        if (region.boundWindows() > 0) {
            for (MemoryWindow window : windows.values()) {
                MemoryRegion range = window.range();
                if (range != null && window.region() == region) {
                    range.setWithheld(!accessible);
                }
            }
        }
    }

    /**
     * Changes the rights and the domain of registered memory, unless a window is bound to it. Address and key remain. Work
     * requests that were posted with the memory are executed with the new rights. As after {@link #deregister}, a thread that
     * drives queue pairs may still use the old ones for its current packet.
     *
     * @param region registered memory
     * @param access bits of {@link AccessFlag}; remote write and remote atomic require local write
     * @param protectionDomain number of the protection domain
     * @return the object with the new rights and domain, or null if a window is bound to the region
     * @throws IllegalArgumentException if the rights are inconsistent, or the memory is no longer registered
     */
    public synchronized @Nullable MemoryRegion change(MemoryRegion region, int access, int protectionDomain) {
        MemoryRegion old = requireRegistered(region);
        requireConsistent(access);
        if (old.boundWindows() > 0) {
            return null;
        }
        MemoryRegion changed = new MemoryRegion(old, access, protectionDomain);
        changed.setWithheld(old.isWithheld());
        regions.replace(old, changed);
        changed.becomeLatest();
        return changed;
    }

    /**
     * Registers other memory in place of a region, under a new key, unless a window is bound to the region. The old
     * memory is deregistered, including for work requests that were posted with it.
     *
     * @param region registered memory
     * @param memory address, access and protectionDomain as for {@link #register}
     * @return the new region, or null if a window is bound to the old one
     * @throws IllegalArgumentException as {@link #register}, or if the old memory is no longer registered; the old memory
     *     then stays as it is
     */
    public synchronized @Nullable MemoryRegion move(
            MemoryRegion region, MemorySegment memory, long address, int access, int protectionDomain) {
        MemoryRegion old = requireRegistered(region);
        if (old.boundWindows() > 0) {
            return null;
        }
        MemoryRegion moved = register(memory, address, access, protectionDomain);
        boolean _ = deregister(old);
        return moved;
    }

    private static MemoryRegion requireRegistered(MemoryRegion region) {
        MemoryRegion latest = region.latest();
        if (latest.hasEnded() || latest.window() != null) {
            throw new IllegalArgumentException("the memory is not registered");
        }
        return latest;
    }

    // ---- windows ----

    /**
     * Creates an unbound memory window.
     *
     * @param typeTwo {@code true} for type 2, {@code false} for type 1
     * @param protectionDomain number of the protection domain
     */
    public synchronized MemoryWindow allocateWindow(boolean typeTwo, int protectionDomain) {
        int key;
        do {
            key = random.getAsInt() & ~0xff;
        } while (key == 0 || windows.containsKey(key >>> 8) || retired.contains(key) || isPrefixInUse(key));
        MemoryWindow window = new MemoryWindow(typeTwo, key, protectionDomain);
        windows.put(key >>> 8, window);
        return window;
    }

    private boolean isPrefixInUse(int key) {
        for (int low = 0; low <= 0xff; low++) {
            if (find(key | low) != null) {
                return true;
            }
        }
        return false;
    }

    /** Unbinds and deallocates a window. Deallocating a second time has no effect. */
    public synchronized void deallocate(MemoryWindow window) {
        if (window.isValid()) {
            unbind(window);
            window.close();
            windows.remove(window.key() >>> 8);
            retired.add(window.key());
        }
    }

    /** Binds a window to a range. The caller has checked the binding rules and holds the lock. */
    void bind(MemoryWindow window, MemoryRegion range, MemoryRegion region) {
        insert(range);
        region.changeBoundWindows(1);
        window.set(range.key(), range, region);
    }

    /** Unbinds a window if it is bound. The caller holds the lock. */
    void unbind(MemoryWindow window) {
        MemoryRegion range = window.range();
        MemoryRegion region = window.region();
        if (range != null && region != null) {
            range.end();
            regions.remove(range);
            region.changeBoundWindows(-1);
            window.set(window.key(), null, null);
        }
    }

    /**
     * Invalidates the key of a type 2 window that a queue pair has bound.
     *
     * @return {@code false} for any other key; regions and windows of type 1 cannot be invalidated this way
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

    /** Unbinds all windows that a queue pair has bound for its peer only. */
    synchronized void unbindAll(QueuePairMachine queuePair) {
        for (MemoryWindow window : windows.values()) {
            MemoryRegion range = window.range();
            if (range != null && range.user() == queuePair) {
                unbind(window);
            }
        }
    }

    /** Returns the region or window range of a key, or null. */
    public @Nullable MemoryRegion find(int key) {
        return regions.find(key);
    }

    /**
     * Returns the region or window range of a key if the queue pair's peer has the right for all the bytes, otherwise
     * null.
     */
    @Nullable
    MemoryRegion find(int key, long address, long length, int right, QueuePairMachine queuePair) {
        MemoryRegion region = find(key, right, queuePair);
        return region != null && region.containsAddress(address, length) ? region : null;
    }

    /** Returns the region or window range of a key if the queue pair's peer has the right for it, otherwise null. */
    @Nullable
    MemoryRegion find(int key, int right, QueuePairMachine queuePair) {
        MemoryRegion region = find(key);
        return region != null && isUsable(region, queuePair.receives.remoteProtectionDomain(), right, queuePair)
                ? region
                : null;
    }

    private static boolean isUsable(MemoryRegion region, int domain, int right, QueuePairMachine queuePair) {
        return region.isValid()
                && region.protectionDomain() == domain
                && region.isFor(queuePair)
                && region.allows(right);
    }

    /**
     * Returns the current object of a region that was checked for an earlier packet of the same message, or null if the
     * memory was deregistered meanwhile, or the right or the domain has changed. The domain is the one that the earlier
     * packet used: a request for another shared receive queue of an XRC target may have come since.
     */
    @Nullable
    MemoryRegion findAgain(@Nullable MemoryRegion region, int right, QueuePairMachine queuePair) {
        if (region == null) {
            return null;
        }
        MemoryRegion latest = region.latest();
        if (latest == region) { // the usual case: nothing but the validity can have changed
            return latest.isValid() ? latest : null;
        }
        return isUsable(latest, region.protectionDomain(), right, queuePair) ? latest : null;
    }

    private int unusedKey() {
        int key;
        do {
            key = random.getAsInt();
        } while (key == 0 || find(key) != null || retired.contains(key) || windows.containsKey(key >>> 8));
        return key;
    }

    /** Returns the number of slots for keys, used or not. */
    int ring() {
        return regions.ring();
    }
}
