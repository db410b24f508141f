package io.rdma4j.link.linux;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** The system calls for files and their locks, like those of {@link Posix}. */
final class FileCalls {
    private static final int O_RDONLY = 0;
    private static final int O_CLOEXEC = Posix.SOCK_CLOEXEC;
    private static final int F_GETLK = 5;
    private static final int LOCK_SHARED = 1;
    private static final int LOCK_WITHOUT_WAITING = 4;

    private static final MethodHandle OPEN = Posix.handle("open", Posix.ERRNO);
    private static final MethodHandle FCNTL = Posix.handle("fcntl", Posix.ERRNO);
    private static final MethodHandle FLOCK = Posix.handle("flock", Posix.ERRNO);

    private FileCalls() {}

    /**
     * Opens a file or directory to read, and returns its descriptor.
     *
     * @throws NoSuchFileException if there is none
     * @throws IOException if it cannot be opened for another reason
     */
    static int open(MemorySegment errno, Path file) throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment name = arena.allocateFrom(file.toString());
            int fd = Posix.call(OPEN, errno, name.address(), O_RDONLY | O_CLOEXEC, 0, 0, 0);
            if (fd == -LinuxErrno.ENOENT) {
                throw new NoSuchFileException(file.toString());
            }
            if (fd < 0) {
                throw new IOException("open " + file + ": " + LinuxErrno.describe(-fd));
            }
            return fd;
        }
    }

    /** Replaces a {@code struct flock} by a conflicting lock of another process, or marks it as unlocked. */
    static int queryLock(MemorySegment errno, int fd, MemorySegment lock) {
        try {
            return Posix.call(FCNTL, errno, fd, F_GETLK, lock.address(), 0, 0);
        } finally {
            Reference.reachabilityFence(lock);
        }
    }

    /** Takes a shared flock(2) lock on an open file, which is independent of fcntl(2) locks. */
    static int lockShared(MemorySegment errno, int fd) {
        return Posix.call(FLOCK, errno, fd, LOCK_SHARED | LOCK_WITHOUT_WAITING, 0, 0, 0);
    }
}
