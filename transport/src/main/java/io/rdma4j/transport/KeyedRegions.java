package io.rdma4j.transport;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Memory regions by key, in so many places; a hash table with open addressing. One thread at a time changes it, others look
 * keys up meanwhile.
 *
 * <p>Nothing that is read here on behalf of a packet is volatile, since a barrier between the steps of a packet costs a tenth
 * of it. A thread that gets this object, or a region out of it, by a race finds it whole nevertheless: what it follows are
 * final fields. That it is also the latest follows from the lock that each thread takes which drives queue pairs.
 */
final class KeyedRegions {
    /** In the place of what was removed, so that no chain of probes breaks under a thread that follows it. */
    private static final MemoryRegion REMOVED = new MemoryRegion(MemorySegment.NULL, 0, 0, 0, -1);

    /** At least half are null, which ends every chain; the length is a power of two. */
    private final @Nullable MemoryRegion[] slots;

    private int entries;

    /** Places that are not null. */
    private int used;

    KeyedRegions(int ring) {
        slots = new @Nullable MemoryRegion[ring];
    }

    /** With all of another one and room for more. */
    KeyedRegions(KeyedRegions other) {
        int ring = other.slots.length;
        slots = new @Nullable MemoryRegion[other.entries * 4 > ring ? ring * 2 : ring];
        for (MemoryRegion region : other.slots) {
            if (region != null && region != REMOVED) {
                insert(region);
            }
        }
        entries = other.entries;
    }

    int ring() {
        return slots.length;
    }

    /** Whether {@link #add} needs another one. */
    boolean isFull() {
        return (used + 1) * 2 > slots.length;
    }

    @Nullable
    MemoryRegion find(int key) {
        int mask = slots.length - 1;
        for (int i = first(key); ; i = (i + 1) & mask) {
            MemoryRegion region = slots[i];
            if (region == null || region.key() == key && region != REMOVED) {
                return region;
            }
        }
    }

    void add(MemoryRegion region) {
        insert(region);
        entries++;
    }

    private void insert(MemoryRegion region) {
        int mask = slots.length - 1;
        int i = first(region.key());
        while (slots[i] != null && slots[i] != REMOVED) {
            i = (i + 1) & mask;
        }
        if (slots[i] == null) {
            used++;
        }
        slots[i] = region;
    }

    void remove(MemoryRegion region) {
        int mask = slots.length - 1;
        int i = first(region.key());
        while (slots[i] != region) {
            i = (i + 1) & mask;
        }
        slots[i] = REMOVED;
        entries--;
    }

    private int first(int key) {
        return (key * 0x9e37_79b9 >>> 7) & (slots.length - 1);
    }
}
