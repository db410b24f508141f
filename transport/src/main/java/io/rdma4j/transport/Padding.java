package io.rdma4j.transport;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The bytes that fill a payload to a multiple of four. */
final class Padding {
    private Padding() {}

    /** Zeroes {@code count} bytes, so that no old memory leaves the machine. */
    static void clear(MemorySegment out, long at, int count) {
        for (int i = 0; i < count; i++) {
            out.set(ValueLayout.JAVA_BYTE, at + i, (byte) 0);
        }
    }
}
