package io.rdma4j.sockets.io;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Resources to release in reverse order of creation, even if creating further ones fails. If a step fails, even with an
 * error of the virtual machine, the others still run. Not thread safe.
 */
final class Releases implements AutoCloseable {
    private final ArrayDeque<Runnable> steps = new ArrayDeque<>();

    /**
     * Closes all objects of a collection. The first failure is thrown after all others were closed. Allocates no
     * memory, so that it also works with a full heap.
     */
    static <T> void closeAll(Collection<T> all, Consumer<T> close) {
        Throwable failure = null;
        for (T each : all) {
            try {
                close.accept(each);
            } catch (RuntimeException | Error failed) {
                failure = both(failure, failed);
            }
        }
        rethrow(failure);
    }

    /** Adds the release of a resource that was created. */
    void add(Runnable step) {
        steps.push(step);
    }

    /** Releases all resources. The first failure is thrown after all others were released. */
    @Override
    public void close() {
        Throwable failure = null;
        while (!steps.isEmpty()) {
            try {
                steps.pop().run();
            } catch (RuntimeException | Error failed) {
                failure = both(failure, failed);
            }
        }
        rethrow(failure);
    }

    /**
     * Releases all resources after a failure, which stays the primary exception. Returns false if a release also fails.
     */
    boolean closeAfter(Throwable failure) {
        try {
            close();
            return true;
        } catch (RuntimeException | Error another) {
            Throwable _ = both(failure, another);
            return false;
        }
    }

    /**
     * Adds a failure to an earlier one, if there is one, and returns the first. Both may be the same object, since Java
     * preallocates the errors of a full heap, and an exception cannot suppress itself.
     */
    static Throwable both(@Nullable Throwable before, Throwable another) {
        if (before == null) {
            return another;
        }
        if (!before.equals(another)) {
            try {
                before.addSuppressed(another);
            } catch (OutOfMemoryError full) {
                return before; // without the other one
            }
        }
        return before;
    }

    /** Throws a failure, if there is one. */
    static void rethrow(@Nullable Throwable failure) {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
    }
}
