package io.rdma4j.link;

import java.io.IOException;

/**
 * Queries the system whether another process has locked bytes of a file, without locking them. Thread safe.
 *
 * <p>While it is open, it has a descriptor of the file. When a process closes any descriptor of a file, the system releases all
 * locks that the process holds on the file. It is therefore closed together with the file's locks.
 */
public interface LockQuery extends AutoCloseable {
    /**
     * Returns whether another process holds a lock, shared or exclusive, on some of the bytes. Locks of this process are ignored.
     *
     * @param at the first byte
     * @param bytes the number of bytes, or 0 for all from the first one, regardless of the length of the file
     * @throws IOException if the system does not answer
     */
    boolean isLockedElsewhere(long at, long bytes) throws IOException;

    /** Closes the descriptor. Closing it again has no effect. */
    @Override
    void close();
}
