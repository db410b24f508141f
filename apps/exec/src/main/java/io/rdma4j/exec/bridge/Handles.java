package io.rdma4j.exec.bridge;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The Java objects that C refers to by handles, which are positive numbers. Thread safe; a lookup takes no lock. The
 * handle of a removed object is reused, so that the table does not grow while a program creates and destroys objects.
 */
public final class Handles {
    private static final int INITIAL_SLOTS = 64;

    /**
     * The objects by handle. The first slot stays empty, because 0 means no object. A larger array replaces a full one.
     * The field is written after each change, so that a thread that has received a handle finds its object.
     */
    private static volatile @Nullable Object[] slots = new @Nullable Object[INITIAL_SLOTS];

    /** The handles that can be reused: the first {@link #freeCount} elements. */
    private static int[] free = new int[INITIAL_SLOTS];

    private static int freeCount;
    private static int used = 1;

    private Handles() {}

    /** Adds an object and returns its handle. */
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

    /** Returns the object with a handle, or null. */
    public static @Nullable Object find(int handle) {
        @Nullable Object[] current = slots;
        return handle > 0 && handle < current.length ? current[handle] : null;
    }

    /**
     * Returns the object with a handle.
     *
     * @throws RdmaException {@code EINVAL} if there is no such object, or if it has another type
     */
    public static <T> T of(int handle, Class<T> type) {
        Object object = find(handle);
        if (!type.isInstance(object)) {
            throw new RdmaException(
                    "bridge_call", Errno.EINVAL, "handle " + handle + " is not of type " + type.getSimpleName(), "");
        }
        return type.cast(object);
    }

    /** Removes an object. Its handle may then be reused for another one. Does nothing if there is no such object. */
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
