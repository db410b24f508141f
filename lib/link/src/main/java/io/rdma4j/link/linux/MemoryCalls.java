package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;

/**
 * The system calls for memory that processes share, like those of {@link Posix}. A separate class, since a process
 * without rings does not need them.
 */
final class MemoryCalls {
    private static final int F_ADD_SEALS = 1033;
    private static final int F_GET_SEALS = 1034;
    private static final int SEEK_END = 2;
    private static final int MFD_CLOEXEC = 1;
    private static final int MFD_ALLOW_SEALING = 2;
    private static final int PROT_READ_WRITE = 3;
    private static final int MAP_SHARED = 1;
    private static final int MSG_CMSG_CLOEXEC = 0x4000_0000;

    private static final MethodHandle MEMFD_CREATE = Posix.handle("memfd_create", Posix.ERRNO);
    private static final MethodHandle FTRUNCATE = Posix.handle("ftruncate", Posix.ERRNO);
    private static final MethodHandle FALLOCATE = Posix.handle("fallocate", Posix.ERRNO);
    private static final MethodHandle FCNTL = Posix.handle("fcntl", Posix.ERRNO);
    private static final MethodHandle LSEEK = Posix.handle("lseek", Posix.ERRNO);
    private static final MethodHandle MMAP = Posix.handle("mmap", Posix.ERRNO);
    private static final MethodHandle MUNMAP = Posix.handle("munmap", Posix.ERRNO);
    private static final MethodHandle RECVMSG = Posix.handle("recvmsg", Posix.ERRNO);

    private MemoryCalls() {}

    /** Creates a file in memory that has no path, and returns its descriptor. */
    static int create(MemorySegment errno, MemorySegment name) {
        try {
            return Posix.call(MEMFD_CREATE, errno, name.address(), MFD_CLOEXEC | MFD_ALLOW_SEALING, 0, 0, 0);
        } finally {
            Reference.reachabilityFence(name);
        }
    }

    static int resize(MemorySegment errno, int fd, long bytes) {
        return Posix.call(FTRUNCATE, errno, fd, bytes, 0, 0, 0);
    }

    /** Returns the size of a file or the negated errno. */
    static long size(MemorySegment errno, int fd) {
        try {
            long bytes = (long) LSEEK.invokeExact(errno, (long) fd, 0L, (long) SEEK_END, 0L, 0L, 0L);
            return bytes == -1 ? -errno.get(JAVA_INT, Posix.ERRNO_OFFSET) : bytes;
        } catch (Throwable e) {
            throw Posix.impossible(e);
        }
    }

    /** Allocates the pages of a file, which otherwise happens when they are written. */
    static int allocate(MemorySegment errno, int fd, long bytes) {
        return Posix.call(FALLOCATE, errno, fd, 0, 0, bytes, 0);
    }

    static int addSeals(MemorySegment errno, int fd, int seals) {
        return Posix.call(FCNTL, errno, fd, F_ADD_SEALS, seals, 0, 0);
    }

    /** Returns the seals of a file; a negated errno if it is not a file in memory. */
    static int seals(MemorySegment errno, int fd) {
        return Posix.call(FCNTL, errno, fd, F_GET_SEALS, 0, 0, 0);
    }

    /** Maps a file for reading and writing, shared. Returns the address or the negated errno: no address is negative. */
    static long map(MemorySegment errno, int fd, long bytes) {
        try {
            long address =
                    (long) MMAP.invokeExact(errno, 0L, bytes, (long) PROT_READ_WRITE, (long) MAP_SHARED, (long) fd, 0L);
            return address == -1 ? -errno.get(JAVA_INT, Posix.ERRNO_OFFSET) : address;
        } catch (Throwable e) {
            throw Posix.impossible(e);
        }
    }

    static void unmap(MemorySegment errno, long address, long bytes) {
        var _ = Posix.call(MUNMAP, errno, address, bytes, 0, 0, 0);
    }

    /** Receives one message, with the descriptors in its control message, without blocking. */
    static int receiveMessage(MemorySegment errno, int fd, MemorySegment header) {
        try {
            return Posix.call(RECVMSG, errno, fd, header.address(), Posix.MSG_DONTWAIT | MSG_CMSG_CLOEXEC, 0, 0);
        } finally {
            Reference.reachabilityFence(header);
        }
    }
}
