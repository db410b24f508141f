package io.rdma4j.sockets.io;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Resources to release in reverse order of creation, also if creating the rest fails. Not thread safe. */
final class Releases implements AutoCloseable {
    private final ArrayDeque<Runnable> steps = new ArrayDeque<>();

    /** Closes all objects of a collection. A failure is thrown after all others were closed. */
    static <T> void closeAll(Collection<T> all, Consumer<T> close) {
        try (Releases releases = new Releases()) {
            all.forEach(each -> releases.add(() -> close.accept(each)));
        }
    }

    /** Adds the release of a resource that was created. */
    void add(Runnable step) {
        steps.push(step);
    }

    /** Releases everything. A failure is thrown after all others were released. */
    @Override
    public void close() {
        RuntimeException failure = null;
        while (!steps.isEmpty()) {
            failure = run(steps.pop(), failure);
        }
        if (failure != null) {
            throw failure;
        }
    }

    private static @Nullable RuntimeException run(Runnable step, @Nullable RuntimeException before) {
        try {
            step.run();
            return before;
        } catch (RuntimeException failed) {
            if (before == null) {
                return failed;
            }
            before.addSuppressed(failed);
            return before;
        }
    }

    /** Releases everything after a failure, which stays the primary exception. Returns false if that fails as well. */
    boolean closeAfter(Throwable failure) {
        try {
            close();
            return true;
        } catch (RuntimeException another) {
            failure.addSuppressed(another);
            return false;
        }
    }
}
