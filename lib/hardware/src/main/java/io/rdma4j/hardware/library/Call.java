package io.rdma4j.hardware.library;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.Supplier;

/** Calls of libibverbs outside the data path, with the memory of their arguments. For one thread. */
public final class Call implements AutoCloseable {
    private static final int ALIGNMENT = 8;

    private final Arena arena = Arena.ofConfined();
    private final CallState state = new CallState(arena);

    /** Creates a call. */
    public Call() {}

    /** Returns zeroed memory, which is valid until {@link #close}. */
    public MemorySegment allocate(long bytes) {
        return arena.allocate(bytes, ALIGNMENT);
    }

    /** Allocates memory with an {@code int}. */
    public MemorySegment ofInt(int value) {
        return arena.allocateFrom(JAVA_INT, value);
    }

    /** Calls a function and returns its result. */
    public long result(MemorySegment function, long... words) {
        return Downcalls.control(
                function,
                state,
                word(words, 0),
                word(words, 1),
                word(words, 2),
                word(words, 3),
                word(words, 4),
                word(words, 5));
    }

    /** Calls a function of libibverbs and returns its result. */
    public long result(Function function, long... words) {
        return result(Libibverbs.address(function), words);
    }

    private static long word(long[] words, int index) {
        return index < words.length ? words[index] : 0;
    }

    /** Returns {@code errno} after a call that has failed. */
    public int errno() {
        return state.errno();
    }

    /**
     * Calls a function that returns an object.
     *
     * @param details describes the object to create, for the message
     * @throws RdmaException if the function returns null
     */
    public long create(Function function, String details, long... words) {
        return created(function.symbol(), details, result(function, words));
    }

    /**
     * Checks and returns an object that a function has created.
     *
     * @throws RdmaException if it is null
     */
    public long created(String operation, String details, long object) {
        if (object == 0) {
            throw failure(operation, state.errno(), details);
        }
        return object;
    }

    /**
     * Returns the result of {@code use} for a new C object. If {@code use} throws, destroys the object.
     *
     * @param destroy the function that destroys the object
     */
    public <T> T useOrDestroy(long object, Function destroy, Supplier<T> use) {
        try {
            return use.get();
        } catch (RuntimeException | Error failed) {
            long _ = result(destroy, object);
            throw failed;
        }
    }

    /**
     * Calls a function that returns an errno.
     *
     * @param details describes the objects, for the message
     * @throws RdmaException if the errno is not 0
     */
    public void check(Function function, String details, long... words) {
        checkResult(function.symbol(), details, (int) result(function, words));
    }

    /**
     * Checks the result of a function that returns an errno, or a negative number with the error in {@code errno}.
     *
     * @throws RdmaException if the result is not 0
     */
    public void checkResult(String operation, String details, int result) {
        if (result != 0) {
            throw failure(operation, result < 0 ? state.errno() : result, details);
        }
    }

    private static RdmaException failure(String operation, int errno, String details) {
        Errno error = Errno.of(errno);
        return new RdmaException(operation, error, details, Remedies.of(operation, error));
    }

    @Override
    public void close() {
        arena.close();
    }
}
