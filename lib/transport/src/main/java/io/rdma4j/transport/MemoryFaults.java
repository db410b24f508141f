package io.rdma4j.transport;

/**
 * Makes the Java virtual machine report a memory fault where the memory was accessed.
 *
 * <p>A page behind a mapped file can be missing: the file was truncated, or its disk is full. HotSpot skips the access in compiled code,
 * and throws an {@link InternalError} later, when a method returns that was not inlined or a loop repeats. That can be in the code of
 * another connection, and after the result has been sent.
 */
public final class MemoryFaults {
    /** More recursive calls than HotSpot inlines, which is one. */
    private static final int CALLS = 3;

    private MemoryFaults() {}

    /**
     * Throws the error that an earlier access of this thread has caused. Takes about a nanosecond. Any thread.
     *
     * @throws InternalError if memory could not be accessed
     */
    public static void report() {
        int _ = call(CALLS);
    }

    private static int call(int more) {
        return more == 0 ? 0 : call(more - 1) + 1;
    }
}
