package io.rdma4j.exec.bridge;

import io.rdma4j.verbs.abi.Native;

/** The arguments and results of a control operation: an array in native memory. C: {@code bridge_call}. */
public final class Arguments {
    private Arguments() {}

    /** Returns the argument at an index, from 0. */
    public static long get(long arguments, int index) {
        return Native.longAt(arguments + (long) index * Long.BYTES);
    }

    /** Returns the argument at an index as a number of 32 bits: a handle, a count or an enumerator. */
    public static int number(long arguments, int index) {
        return (int) get(arguments, index);
    }

    /** Sets the result at an index. */
    public static void set(long arguments, int index, long value) {
        Native.putLong(arguments + (long) index * Long.BYTES, value);
    }
}
