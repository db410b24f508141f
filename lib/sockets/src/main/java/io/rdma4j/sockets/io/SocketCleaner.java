package io.rdma4j.sockets.io;

import java.lang.ref.Cleaner;
import java.util.function.Supplier;

/** Closes endpoints of sockets that became unreachable without being closed, like the JDK for TCP. Thread safe. */
public final class SocketCleaner {
    private static final Cleaner CLEANER = Cleaner.create();

    private SocketCleaner() {}

    /**
     * Closes an endpoint when its owner becomes unreachable.
     *
     * @param endpoint supplies the endpoint; must not refer to the owner
     * @return a handle, which must be cleaned when the owner is closed
     */
    public static Cleaner.Cleanable watch(Object owner, Supplier<? extends SocketEndpoint> endpoint) {
        return CLEANER.register(owner, () -> close(endpoint.get()));
    }

    private static void close(SocketEndpoint endpoint) {
        if (!endpoint.isClosed()) {
            Thread.ofVirtual().start(endpoint::close); // close may wait; the cleaner must not
        }
    }
}
