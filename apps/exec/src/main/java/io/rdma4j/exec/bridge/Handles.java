package io.rdma4j.exec.bridge;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The objects of Java that C refers to by positive numbers. Thread safe; looking an object up takes no lock. The number of a
 * removed object is used again, so that a program that creates and destroys objects does not fill the table.
 */
public final class Handles {
    private static final int INITIAL_SLOTS = 64;

    /**
     * The objects by number. The first slot stays empty: 0 stands for no object. Replaced when it is full, and written after
     * each change, so that a thread that has learned a number finds its object.
     */
    private static volatile @Nullable Object[] slots = new @Nullable Object[INITIAL_SLOTS];

    /** The numbers that are free again, the first {@link #freeCount} of the array. */
    private static int[] free = new int[INITIAL_SLOTS];

    private static int freeCount;
    private static int used = 1;

    private Handles() {}

    /** Adds an object and returns its number. */
    public static synchronized int add(Object object) {
        int handle = freeCount > 0 ? free[--freeCount] : used++;
        @Nullable Object[] current = slots;
        if (handle == current.length) {
            current = Arrays.copyOf(current, handle * 2);
        }
        current[handle] = object;
        slots = current;
        return handle;
    }

    /** Returns the object of a number, or null. */
    public static @Nullable Object find(int handle) {
        @Nullable Object[] current = slots;
        return handle > 0 && handle < current.length ? current[handle] : null;
    }

    /**
     * Returns the object of a number.
     *
     * @throws RdmaException {@code EINVAL} if the number stands for no object, or for one of another type
     */
    public static <T> T of(int handle, Class<T> type) {
        Object object = find(handle);
        if (!type.isInstance(object)) {
            throw new RdmaException(
                    "bridge_call", Errno.EINVAL, "handle " + handle + " is no " + type.getSimpleName(), "");
        }
        return type.cast(object);
    }

    /** Removes an object, whose number may then be used for another one. Does nothing if there is none. */
    public static synchronized void remove(int handle) {
        if (find(handle) == null) {
            return;
        }
        @Nullable Object[] current = slots;
        current[handle] = null;
        slots = current;
        if (freeCount == free.length) {
            free = Arrays.copyOf(free, freeCount * 2);
        }
        free[freeCount++] = handle;
    }
}
