package io.rdma4j;

import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.DisconnectedException;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Iterates over the elements that arrive at a connection or a listener until it ends. Used by one thread. */
final class UntilEnd<T> implements Iterator<T> {
    private final Supplier<T> await;
    private @Nullable T next;

    /**
     * Creates an iterator.
     *
     * @param await waits for the next element
     */
    UntilEnd(Supplier<T> await) {
        this.await = await;
    }

    @Override
    public boolean hasNext() {
        if (next == null) {
            try {
                next = await.get();
            } catch (DisconnectedException | ClosedException ended) {
                return false;
            }
        }
        return true;
    }

    @Override
    public T next() {
        if (!hasNext()) {
            throw new NoSuchElementException("nothing arrives any more");
        }
        T element = Objects.requireNonNull(next);
        next = null;
        return element;
    }
}
