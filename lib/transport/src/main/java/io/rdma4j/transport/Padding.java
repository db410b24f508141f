package io.rdma4j.transport;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Pad bytes, which extend a payload to a multiple of four bytes. */
final class Padding {
    private Padding() {}

    /** Zeroes {@code count} bytes, so that packets do not leak stale memory. */
    static void clear(MemorySegment out, long at, int count) {
        for (int i = 0; i < count; i++) {
            out.set(ValueLayout.JAVA_BYTE, at + i, (byte) 0);
        }
    }
}
