package io.rdma4j.link.ring;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The layout of a ring in memory. Numbers are in the machine's byte order, which both processes share.
 *
 * <pre>
 * offset     content
 *      0     tail: the number of bytes written so far (8), by the writer
 *    128     head: the number of bytes released so far (8), by the reader
 *    256     1 while the reader waits to be woken, otherwise 0 (4), set by the reader, cleared by both
 *   4096     the records
 *
 * record: a multiple of {@value #ALIGNMENT} bytes, not divided by the end of the ring 0 bytes of all frames (4), or {@value
 *      #PADDING}: the rest of the ring is unused 4 bytes of each frame except the last (4) 8 UDP source port (4) 12 traffic class
 *      (1), 1 if the frames have an ICRC (1) 16 the frames, one behind the other
 * </pre>
 *
 * <p>Head and tail count bytes since the ring was created and never wrap. They and the flag are in separate cache lines.
 */
public final class RingLayout {
    /** Offset of the records, in bytes: the size of the memory is this and the capacity. */
    public static final int RECORDS = 4096;

    static final int TAIL = 0;
    static final int HEAD = 128;
    static final int ASLEEP = 256;

    /** Records begin at multiples of this. */
    static final int ALIGNMENT = 64;

    static final int PADDING = -1;
    static final int FRAME_BYTES = 4;
    static final int SOURCE_PORT = 8;
    static final int TRAFFIC_CLASS = 12;
    static final int SEALED = 13;
    static final int HEADER_BYTES = 16;

    static final VarHandle LONG = JAVA_LONG.varHandle();
    static final VarHandle INT = JAVA_INT.varHandle();
    static final ValueLayout.OfInt WORD = JAVA_INT;

    /** The minimum capacity, in bytes: two bursts of the maximum size fit. */
    public static final int MIN_CAPACITY_BYTES = 1 << 18;

    /** The maximum capacity, in bytes. */
    public static final int MAX_CAPACITY_BYTES = 1 << 26;

    private RingLayout() {}

    /** Returns whether the memory of a ring may have this size: the capacity is a power of two within the limits. */
    public static boolean isMemorySize(long bytes) {
        long capacity = bytes - RECORDS;
        return capacity >= MIN_CAPACITY_BYTES && capacity <= MAX_CAPACITY_BYTES && Long.bitCount(capacity) == 1;
    }

    /** Returns the memory of a ring, if it has the size of one. */
    static MemorySegment require(MemorySegment memory) {
        if (!isMemorySize(memory.byteSize())) {
            throw new IllegalArgumentException("memory of " + memory.byteSize() + " bytes for a ring");
        }
        return memory;
    }

    /** Returns the size of a record whose frames have {@code bytes} bytes. */
    static int recordBytes(int bytes) {
        return HEADER_BYTES + bytes + ALIGNMENT - 1 & -ALIGNMENT;
    }
}
