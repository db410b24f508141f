package io.rdma4j.hardware.library;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;

/**
 * Calls functions by their addresses. All calls share a signature with as many words as the longest parameter list. A
 * handle for each function would add milliseconds to the startup, and a handle for each device's pointers would not be
 * a constant for the compiler (decision 046). A function reads only the registers of its parameters, and only the width
 * of each parameter.
 */
public final class Downcalls {
    private static final StructLayout CAPTURE = Linker.Option.captureStateLayout();
    private static final long ERRNO = CAPTURE.byteOffset(PathElement.groupElement("errno"));

    private static final FunctionDescriptor SIX_WORDS =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private static final FunctionDescriptor THREE_WORDS =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG);

    private static final MethodHandle CONTROL = handle(SIX_WORDS, Linker.Option.captureCallState("errno"));
    private static final MethodHandle DATA = handle(THREE_WORDS);

    private Downcalls() {}

    @SuppressWarnings("restricted")
    private static MethodHandle handle(FunctionDescriptor signature, Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(signature, options);
    }

    /** Returns the layout of the memory that receives errno. */
    static StructLayout errnoLayout() {
        return CAPTURE;
    }

    /** Returns the error of the last call that used this memory. */
    static int errno(MemorySegment captured) {
        return captured.get(JAVA_INT, ERRNO);
    }

    /** Calls a function of at most six parameters, which may block; the state receives errno. */
    public static long control(
            MemorySegment function,
            CallState state,
            long first,
            long second,
            long third,
            long fourth,
            long fifth,
            long sixth) {
        try {
            return (long) CONTROL.invokeExact(function, state.captured(), first, second, third, fourth, fifth, sixth);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    /** Calls a function of at most three parameters that returns an {@code int}. Allocates nothing. */
    public static int data(MemorySegment function, long first, long second, long third) {
        try {
            return (int) (long) DATA.invokeExact(function, first, second, third);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    /** Calls a function of one parameter that returns a 64-bit number. Allocates nothing. */
    public static long word(MemorySegment function, long first) {
        try {
            return (long) DATA.invokeExact(function, first, 0L, 0L);
        } catch (Throwable thrown) {
            throw impossible(thrown);
        }
    }

    private static AssertionError impossible(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return new AssertionError("a function of C does not throw", thrown);
    }
}
