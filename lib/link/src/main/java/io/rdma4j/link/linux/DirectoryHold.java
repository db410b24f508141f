package io.rdma4j.link.linux;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;

/**
 * A shared flock(2) lock on a directory. Programs that remove old files, such as {@code systemd-tmpfiles}, skip a locked
 * directory with everything below it.
 */
public final class DirectoryHold implements AutoCloseable {
    private static final int CLOSED = -1;

    private int fd;

    /**
     * Locks a directory. While a cleaner is at work there, the lock is not available, and the directory stays unlocked.
     *
     * @throws IOException if the directory cannot be opened
     */
    public DirectoryHold(Path directory) throws IOException {
        MemorySegment errno = Posix.newErrno();
        fd = FileCalls.open(errno, directory);
        int _ = FileCalls.lockShared(errno, fd);
    }

    /** Releases the lock. Closing it again has no effect. */
    @Override
    public synchronized void close() {
        if (fd != CLOSED) {
            Posix.close(fd);
            fd = CLOSED;
        }
    }
}
