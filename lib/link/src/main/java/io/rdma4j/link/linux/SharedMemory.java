package io.rdma4j.link.linux;

import io.rdma4j.link.ring.RingLayout;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Memory that two processes share: a file in memory without a path, which the kernel frees with its last mapping. Its size is
 * sealed, so that no process can make another one fault by truncating it.
 */
final class SharedMemory implements AutoCloseable {
    /** F_SEAL_SEAL, F_SEAL_SHRINK and F_SEAL_GROW. */
    private static final int SEALS = 7;

    private static final int NO_DESCRIPTOR = -1;

    /**
     * True if the system does not overcommit memory. A write to a page that was not allocated before can then fail, and
     * such a failure is a fault, not an error code. All pages are therefore allocated at the start. On other systems,
     * pages that a ring does not use cost nothing.
     */
    private static final boolean IS_LIMITED = isLimited();

    private static boolean isLimited() {
        try {
            return Files.readAllLines(Path.of("/proc/sys/vm/overcommit_memory")).equals(List.of("2"));
        } catch (IOException unknown) {
            return true;
        }
    }

    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;
    private int fd;

    private SharedMemory(MemorySegment errno, int fd, long bytes) throws IOException {
        long address = MemoryCalls.map(errno, fd, bytes);
        if (address < 0) {
            throw failure("mmap", (int) address);
        }
        this.fd = fd;
        segment = mapped(address, bytes);
    }

    @SuppressWarnings("restricted") // the mapping has this size until the arena closes
    private MemorySegment mapped(long address, long bytes) {
        return MemorySegment.ofAddress(address)
                .reinterpret(bytes, arena, memory -> MemoryCalls.unmap(Posix.newErrno(), memory.address(), bytes));
    }

    /**
     * Checks that the C library can create such memory, like glibc since version 2.27.
     *
     * @throws IOException if it cannot
     */
    static void requireAvailable() throws IOException {
        if (!Posix.has("memfd_create")) {
            throw new IOException("shared memory: this C library lacks memfd_create");
        }
    }

    /**
     * Creates zeroed memory.
     *
     * @throws IOException if there is none, or the process has too many descriptors
     */
    static SharedMemory create(long bytes) throws IOException {
        MemorySegment errno = Posix.newErrno();
        int fd = MemoryCalls.create(errno, Arena.ofAuto().allocateFrom("rdma4j-ring"));
        if (fd < 0) {
            throw failure("memfd_create", fd);
        }
        try {
            require("ftruncate", MemoryCalls.resize(errno, fd, bytes));
            if (IS_LIMITED) {
                require("fallocate", MemoryCalls.allocate(errno, fd, bytes));
            }
            require("F_ADD_SEALS", MemoryCalls.addSeals(errno, fd, SEALS));
            return new SharedMemory(errno, fd, bytes);
        } catch (IOException e) {
            Posix.close(fd);
            throw e;
        }
    }

    /**
     * Maps memory of another process, and closes the descriptor.
     *
     * @param fd the descriptor that the other process has sent
     * @throws IOException if it is not sealed memory of the size of a ring, or cannot be mapped
     */
    static SharedMemory map(int fd) throws IOException {
        MemorySegment errno = Posix.newErrno();
        try {
            int seals = MemoryCalls.seals(errno, fd);
            require("F_GET_SEALS", seals);
            long bytes = MemoryCalls.size(errno, fd);
            require("lseek", bytes);
            if ((seals & SEALS) != SEALS || !RingLayout.isMemorySize(bytes)) {
                throw new IOException(
                        "shared memory of " + bytes + " bytes with seals " + seals + " is not the memory of a ring");
            }
            SharedMemory memory = new SharedMemory(errno, fd, bytes);
            memory.fd = NO_DESCRIPTOR;
            return memory;
        } finally {
            Posix.close(fd);
        }
    }

    private static void require(String call, long result) throws IOException {
        if (result < 0) {
            throw failure(call, (int) result);
        }
    }

    private static IOException failure(String call, int result) {
        return new IOException("shared memory: " + call + ": " + LinuxErrno.describe(-result));
    }

    MemorySegment segment() {
        return segment;
    }

    /** Returns the descriptor, until {@link #closeDescriptor}. */
    int descriptor() {
        return fd;
    }

    /** Closes the descriptor, which the mapping does not need. */
    void closeDescriptor() {
        if (fd != NO_DESCRIPTOR) {
            Posix.close(fd);
            fd = NO_DESCRIPTOR;
        }
    }

    /** Unmaps the memory. No thread may use it afterwards; a later use throws an exception. */
    @Override
    public void close() {
        closeDescriptor();
        arena.close();
    }
}
