package io.rdma4j.sockets.io;

import java.lang.ref.Cleaner;
import java.util.function.Supplier;

/** Closes endpoints whose sockets nobody refers to any more, as Java does with those of TCP. Thread safe. */
public final class SocketCleaner {
    private static final Cleaner CLEANER = Cleaner.create();

    private SocketCleaner() {}

    /**
     * Has an endpoint closed when nobody refers to its owner any more.
     *
     * @param endpoint tells which then; must not refer to the owner
     * @return to be cleaned when the owner is closed
     */
    public static Cleaner.Cleanable watch(Object owner, Supplier<? extends SocketEndpoint> endpoint) {
        return CLEANER.register(owner, () -> close(endpoint.get()));
    }

    private static void close(SocketEndpoint endpoint) {
        if (!endpoint.isClosed()) {
            Thread.ofVirtual().start(endpoint::close); // it may wait a moment, the cleaner must not
        }
    }
}
