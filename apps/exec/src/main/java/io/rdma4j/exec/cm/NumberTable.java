package io.rdma4j.exec.cm;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Objects by numbers. A number that is free again is used as late as possible, since librdmacm forgets the number of an
 * identifier only after the kernel has. Numbers stay below 65536, the most that librdmacm takes, until that many are in use.
 * Not thread safe.
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

    /** Removes the object of a number; returns whether it was there. */
    @SuppressWarnings("ReferenceEquality") // another object must stay, even if it is an equal one
    boolean remove(int number, T object) {
        if (find(number) != object) {
            return false;
        }
        slots[number] = null;
        count--;
        return true;
    }
}
