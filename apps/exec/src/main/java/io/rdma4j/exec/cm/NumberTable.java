package io.rdma4j.exec.cm;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Objects by number. A free number is reused as late as possible, because librdmacm removes an identifier from its own
 * table only after the kernel has destroyed it. Numbers stay below 65536, the limit of librdmacm, while at most 32768
 * are in use. Not thread safe.
 */
final class NumberTable<T> {
    private static final int INITIAL_SLOTS = 1024;

    private @Nullable Object[] slots = new @Nullable Object[INITIAL_SLOTS];
    private int next;
    private int count;

    /** Adds an object and returns its number. */
    int add(T object) {
        if (count >= slots.length / 2) {
            next = slots.length;
            slots = Arrays.copyOf(slots, slots.length * 2);
        }
        while (slots[next & slots.length - 1] != null) {
            next++;
        }
        int number = next & slots.length - 1;
        slots[number] = object;
        next = number + 1;
        count++;
        return number;
    }

    /** Returns the object of a number, or null. */
    @SuppressWarnings("unchecked") // only add fills slots
    @Nullable
    T find(int number) {
        return number >= 0 && number < slots.length ? (T) slots[number] : null;
    }

    /** Removes an object; returns false if the number is not the object's. */
    @SuppressWarnings("ReferenceEquality") // another object must stay, even if it is equal
    boolean remove(int number, T object) {
        if (find(number) != object) {
            return false;
        }
        slots[number] = null;
        count--;
        return true;
    }
}
