package io.rdma4j.link.linux;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.rdma4j.link.LockQuery;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/** Queries locks by {@code F_GETLK}. */
public final class LinuxLockQuery implements LockQuery {
    private static final int CLOSED = -1;

    /** Size of {@code struct flock}, and the offsets of its fields. */
    private static final int BYTES = 32;

    private static final int KIND = 0;
    private static final int START = 8;
    private static final int LENGTH = 16;
    private static final short EXCLUSIVE = 1;
    private static final short UNLOCKED = 2;

    private final Path file;
    private final MemorySegment errno = Posix.newErrno();
    private final MemorySegment lock = Arena.ofAuto().allocate(BYTES, 8);
    private int fd;

    /**
     * Opens a file.
     *
     * @throws IOException if it cannot be opened
     */
    public LinuxLockQuery(Path file) throws IOException {
        this.file = file;
        fd = FileCalls.open(errno, file);
    }

    @Override
    public synchronized boolean isLockedElsewhere(long at, long bytes) throws IOException {
        lock.fill((byte) 0); // offsets from the start of the file
        lock.set(JAVA_SHORT, KIND, EXCLUSIVE);
        lock.set(JAVA_LONG, START, at);
        lock.set(JAVA_LONG, LENGTH, bytes);
        int result = FileCalls.queryLock(errno, fd, lock);
        if (result < 0) {
            throw new IOException("query the locks of " + file + ": " + LinuxErrno.describe(-result));
        }
        return lock.get(JAVA_SHORT, KIND) != UNLOCKED;
    }

    @Override
    public synchronized void close() {
        if (fd != CLOSED) {
            Posix.close(fd);
            fd = CLOSED;
        }
    }
}
