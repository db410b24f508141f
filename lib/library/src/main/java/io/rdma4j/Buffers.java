package io.rdma4j;

import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The buffers of a connection or datagram socket, which are closed with it. Thread safe. */
final class Buffers {
    private static final int ALIGNMENT_BYTES = 64;

    /** Represents the threads of the device; never started. */
    private static final Thread OTHER = Thread.ofVirtual().unstarted(() -> {});

    private final ProtectionDomain domain;
    private final String owner;
    private final Set<MemoryRegion> regions = ConcurrentHashMap.newKeySet();
    private volatile boolean isClosed;

    /**
     * Creates an empty set.
     *
     * @param domain the protection domain of the queue pair
     * @param owner the connection or socket, for messages
     */
    Buffers(ProtectionDomain domain, String owner) {
        this.domain = domain;
        this.owner = owner;
    }

    /** Throws IllegalArgumentException if only one thread may access the memory. */
    static void requireShared(MemorySegment memory) {
        if (!memory.isAccessibleBy(OTHER)) {
            throw new IllegalArgumentException(
                    "the memory belongs to one thread, but threads of the device use it: allocate it in Arena.ofShared() or Arena.ofAuto()");
        }
    }

    Buffer allocate(long bytes) {
        return register(Arena.ofAuto().allocate(bytes, ALIGNMENT_BYTES));
    }

    Buffer register(MemorySegment memory) {
        requireShared(memory);
        MemoryRegion region = domain.register(memory, Access.flags(Set.of(), memory));
        regions.add(region);
        if (isClosed) {
            close(region);
            throw new ClosedException("register", owner + " is closed", "");
        }
        return new Buffer(region, this::close);
    }

    private void close(MemoryRegion region) {
        regions.remove(region);
        region.close();
    }

    /** Refuses new buffers. */
    void refuse() {
        isClosed = true;
    }

    /** Returns the steps that close the buffers that the program has not closed. */
    List<Runnable> closingSteps() {
        return regions.stream().<Runnable>map(region -> region::close).toList();
    }
}
