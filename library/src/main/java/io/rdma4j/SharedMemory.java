package io.rdma4j;

import java.lang.foreign.MemorySegment;

/** Memory that the threads of a device access. */
final class SharedMemory {
    /** Stands for the threads of the device; never started. */
    private static final Thread OTHER = Thread.ofVirtual().unstarted(() -> {});

    private SharedMemory() {}

    /** Throws IllegalArgumentException if only one thread may access the memory. */
    static void require(MemorySegment memory) {
        if (!memory.isAccessibleBy(OTHER)) {
            throw new IllegalArgumentException(
                    "the memory belongs to one thread, but threads of the device use it: allocate it in Arena.ofShared() or Arena.ofAuto()");
        }
    }
}
