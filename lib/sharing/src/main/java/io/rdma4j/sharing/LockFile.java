package io.rdma4j.sharing;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** A file whose bytes are locks between the processes of a host. Thread safe. */
interface LockFile extends AutoCloseable {
    /** A lock on one byte. */
    interface ByteLock {
        /** Returns whether the lock is still held. */
        boolean isValid();

        /** Returns whether other processes may also hold the lock. */
        boolean isShared();

        /** Releases the lock. */
        void release() throws IOException;
    }

    /**
     * Locks a byte.
     *
     * @return the lock, or null if another process or another stack of this process holds a conflicting lock
     */
    @Nullable
    ByteLock tryLock(long at, boolean shared) throws IOException;

    /**
     * Returns whether another process or stack holds a lock on a byte. The query does not keep others from locking the byte.
     *
     * @throws IOException if that cannot be determined
     */
    boolean isLockedElsewhere(long at) throws IOException;

    /** Returns whether this is still the file at its path; another process removes a file that no process uses. */
    boolean isCurrent() throws IOException;

    /**
     * Creates the file again, with the locks of this process, if it was removed or replaced.
     *
     * @throws IOException if that is not possible now
     */
    void keep() throws IOException;

    /** Closes the file; its locks must be released before. */
    @Override
    void close() throws IOException;
}
