package io.rdma4j.exec.verbs;

import org.jspecify.annotations.Nullable;

/**
 * The registered memory of a protection domain by local key. Lookups take no lock and allocate nothing. Thread safe.
 *
 * <p>A hash table with linear probing. A mark replaces a removed entry. When half of the table is in use, a new table
 * without marks replaces it, which is larger if necessary.
 */
final class LocalKeys {
    private static final int INITIAL_SLOTS = 16;

    /** Replaces a removed entry, so that probing continues to the entries after it. */
    private static final LocalMemory REMOVED = LocalMemory.none();

    /** Replaced when half of it is in use, and written after each change, which makes the change visible to lookups. */
    private volatile @Nullable LocalMemory[] slots = new @Nullable LocalMemory[INITIAL_SLOTS];

    // Guarded by this.

    /** The number of slots that are not empty. */
    private int used;

    private int size;

    /** Returns the memory of a key, or null. */
    @Nullable
    LocalMemory find(int key) {
        @Nullable LocalMemory[] current = slots;
        int mask = current.length - 1;
        for (int at = first(key, mask); ; at = at + 1 & mask) {
            LocalMemory found = current[at];
            if (found == null || found.key() == key && found != REMOVED) {
                return found;
            }
        }
    }

    /** Returns the first slot to probe. The bits of the key are mixed, because a device may assign consecutive keys. */
    private static int first(int key, int mask) {
        int mixed = key * 0x9e37_79b9;
        return (mixed ^ mixed >>> 16) & mask;
    }

    /** Adds memory. Its key must not be in the table. */
    synchronized void add(LocalMemory memory) {
        @Nullable LocalMemory[] current = slots;
        if (used >= current.length / 2) {
            current = rebuilt(current);
        }
        insert(current, memory);
        used++;
        size++;
        slots = current;
    }

    private static void insert(@Nullable LocalMemory[] table, LocalMemory memory) {
        int mask = table.length - 1;
        int at = first(memory.key(), mask);
        while (table[at] != null) {
            at = at + 1 & mask;
        }
        table[at] = memory;
    }

    /** Returns a table with the same memory, at most a quarter full, without the marks. */
    private @Nullable LocalMemory[] rebuilt(@Nullable LocalMemory[] old) {
        int length = INITIAL_SLOTS;
        while (length < 4 * size) {
            length *= 2;
        }
        @Nullable LocalMemory[] table = new @Nullable LocalMemory[length];
        for (LocalMemory each : old) {
            if (each != null && each != REMOVED) {
                insert(table, each);
            }
        }
        used = size;
        return table;
    }

    /** Removes memory, and marks it as no longer {@linkplain LocalMemory#isRegistered registered}. */
    synchronized void remove(LocalMemory memory) {
        @Nullable LocalMemory[] current = slots;
        int mask = current.length - 1;
        memory.end();
        for (int at = first(memory.key(), mask); current[at] != null; at = at + 1 & mask) {
            if (current[at] == memory) {
                current[at] = REMOVED;
                size--;
                slots = current;
                return;
            }
        }
    }

    /** Returns the number of slots, used or not. */
    int slotCount() {
        return slots.length;
    }
}
