package io.rdma4j.sockets.net;

import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;

/** Logs connections over TCP: the first one of each reason at level INFO, others at DEBUG. Thread safe. */
public final class TcpLog {
    private static final Logger LOGGER = System.getLogger(TcpLog.class.getName());
    private static final AtomicBoolean HAS_LOGGED_RULE = new AtomicBoolean();
    private static final AtomicBoolean HAS_LOGGED_FAILURE = new AtomicBoolean();

    private TcpLog() {}

    private static Level first(AtomicBoolean hasLogged) {
        return hasLogged.getAndSet(true) ? Level.DEBUG : Level.INFO;
    }

    /** Logs a connection for which the rules select TCP. */
    public static void byRule(InetSocketAddress to) {
        LOGGER.log(
                first(HAS_LOGGED_RULE),
                "Connecting to {0} over TCP, by the rules of -D{1}. Other such connections are logged at level DEBUG",
                to,
                AddressRules.PROPERTY);
    }

    /** Logs a connection for which TCP is tried after RDMA. */
    static void afterFailure(InetSocketAddress to, IOException overRdma) {
        LOGGER.log(
                first(HAS_LOGGED_FAILURE),
                "Connecting to {0} over TCP, since RDMA failed: {1}. Other such connections are logged at level DEBUG",
                to,
                overRdma.getMessage());
    }
}
