package io.rdma4j.link;

import org.jspecify.annotations.Nullable;

/** A Unix-domain socket through which other processes of this host hand over rings in shared memory. */
public interface RingListener extends AutoCloseable {
    /** Accepts a ring without waiting, or returns null if there is none. */
    @Nullable
    ReceiveRing accept();

    /** Closes the socket and removes its file. Rings that it accepted stay open. */
    @Override
    void close();
}
