package io.rdma4j.transport;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Memory regions by key: a hash table of fixed size with open addressing. One thread at a time modifies it while others
 * look up keys.
 *
 * <p>Nothing read here on behalf of a packet is volatile, since a barrier between the steps of processing a packet
 * costs a tenth of its time. A thread that obtains this object, or a region from it, through a race still sees it fully
 * initialised, because it follows final fields. Visibility of the latest state follows from the lock that every thread
 * driving queue pairs takes.
 */
final class KeyedRegions {
    /** Tombstone in the slot of a removed region, so that concurrent lookups do not stop early. */
    private static final MemoryRegion REMOVED = new MemoryRegion(MemorySegment.NULL, 0, 0, 0, -1);

    /** At least half of the slots are null, which terminates every probe sequence. The length is a power of two. */
    private final @Nullable MemoryRegion[] slots;

    private int entries;

    /** Number of slots that are not null. */
    private int used;

    KeyedRegions(int ring) {
        slots = new @Nullable MemoryRegion[ring];
    }

    /** Copies another table, with room for more entries. */
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

    /** Returns whether the table must be replaced by a larger copy before {@link #add}. */
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

    /** Replaces a region by another one with the same key. A concurrent lookup finds one of them. */
    void replace(MemoryRegion region, MemoryRegion by) {
        int mask = slots.length - 1;
        int i = first(region.key());
        while (slots[i] != region) {
            i = (i + 1) & mask;
        }
        slots[i] = by;
    }

    private int first(int key) {
        return (key * 0x9e37_79b9 >>> 7) & (slots.length - 1);
    }
}
