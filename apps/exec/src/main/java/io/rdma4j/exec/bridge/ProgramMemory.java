package io.rdma4j.exec.bridge;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.rdma4j.verbs.abi.MemoryAccess;
import io.rdma4j.verbs.abi.Native;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Accesses memory of the program through a C function, which returns an error if the memory is not mapped. C: {@code
 * access_memory}. The C library registers the native method before it calls Java.
 */
public final class ProgramMemory extends MemoryAccess {
    // enum access_operation
    private static final int COPY = 0;
    private static final int SWAP = 1;
    private static final int ADD = 2;
    private static final int STORE = 3;

    // struct access_operands
    private static final long COMPARE = 0;
    private static final long VALUE = 8;
    private static final long ORIGINAL = 16;

    private static final ProgramMemory INSTANCE = new ProgramMemory();

    private ProgramMemory() {}

    /** Makes software devices access memory through this class, if the C library has registered the native method. */
    public static void choose() {
        try {
            if (function() != 0) {
                MemoryAccess.choose(INSTANCE);
            }
        } catch (UnsatisfiedLinkError e) {
            // A test calls from Java: its memory stays mapped.
        }
    }

    private static native long function();

    /** Links the function at the first access instead of at the start of the virtual machine. */
    private static final class Linked {
        static final MethodHandle FUNCTION = link();
        static final MemorySegment OPERANDS = Arena.global().allocate(24, Long.BYTES);

        private Linked() {}

        @SuppressWarnings("restricted")
        private static MethodHandle link() {
            return Linker.nativeLinker()
                    .downcallHandle(
                            MemorySegment.ofAddress(function()),
                            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                            Linker.Option.critical(false)); // the function does not block
        }
    }

    /** Links the C function. This takes some milliseconds, for which the first packet would otherwise wait. */
    public static void link() {
        if (MemoryAccess.chosen() == INSTANCE) {
            call(COPY, Linked.OPERANDS.address(), Linked.OPERANDS.address(), 0);
        }
    }

    private static boolean call(int operation, long from, long to, long bytes) {
        try {
            return (long) Linked.FUNCTION.invokeExact((long) operation, to, from, bytes) == 0;
        } catch (Throwable e) {
            throw new AssertionError("a C function threw an exception", e);
        }
    }

    /**
     * Copies bytes between two ranges of memory, which the program may have unmapped.
     *
     * @return false if memory cannot be accessed
     */
    public static boolean copyBytes(long from, long to, long bytes) {
        if (MemoryAccess.chosen() != INSTANCE) {
            Native.copy(from, to, bytes);
            return true;
        }
        return call(COPY, from, to, bytes);
    }

    @Override
    public boolean copy(long from, long to, long bytes) {
        return call(COPY, from, to, bytes);
    }

    @Override
    public boolean exchangeOrAdd(long address, boolean isExchange, long compare, long exchangeOrAdd, long[] original) {
        synchronized (this) { // the operands are shared, and unaligned changes are not atomic
            if (!change(address, isExchange ? SWAP : ADD, compare, exchangeOrAdd)) {
                return false;
            }
            original[0] = Linked.OPERANDS.get(JAVA_LONG, ORIGINAL);
            return true;
        }
    }

    @Override
    public synchronized boolean store(long address, long value) {
        return change(address, STORE, 0, value);
    }

    private static boolean change(long address, int operation, long compare, long value) {
        Linked.OPERANDS.set(JAVA_LONG, COMPARE, compare);
        Linked.OPERANDS.set(JAVA_LONG, VALUE, value);
        return call(operation, Linked.OPERANDS.address(), address, Long.BYTES);
    }
}
