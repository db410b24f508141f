package io.rdma4j.link.ring;

import java.lang.foreign.MemorySegment;

/** Gives the fuzz target of rings access to the layout, and to a small ring whose reader copies to known memory. */
public final class RingParts {
    /** Offset of the tail. */
    public static final int TAIL = RingLayout.TAIL;

    /** Offset of the head. */
    public static final int HEAD = RingLayout.HEAD;

    /** Offset of the flag. */
    public static final int ASLEEP = RingLayout.ASLEEP;

    /** Records begin at multiples of this. */
    public static final int ALIGNMENT = RingLayout.ALIGNMENT;

    /** The maximum number of frames of a poll. */
    public static final int FRAMES = RingReader.FRAMES;

    /** The size of the memory that a reader copies frames to. */
    public static final int COPIES_BYTES = RingReader.FRAMES * RingReader.COPY_BYTES;

    private RingParts() {}

    /** Creates a reader that copies frames to the given memory. The capacity of the ring is any power of two. */
    public static RingReader reader(MemorySegment memory, MemorySegment copies) {
        return new RingReader(memory, copies, false);
    }

    /** Creates a writer. The capacity of the ring is any power of two. */
    public static RingWriter writer(MemorySegment memory) {
        return new RingWriter(memory, memory.byteSize() - RingLayout.RECORDS);
    }

    /** Returns the size of a record whose frames have {@code bytes} bytes. */
    public static int recordBytes(int bytes) {
        return RingLayout.recordBytes(bytes);
    }
}
