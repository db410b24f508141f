package io.rdma4j.sockets.net;

import io.rdma4j.sockets.options.AddressRules;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;

/** Logs connections for which the rules select TCP: the first one at level INFO, others at DEBUG. Thread safe. */
public final class TcpLog {
    private static final Logger LOGGER = System.getLogger(TcpLog.class.getName());
    private static final AtomicBoolean HAS_LOGGED = new AtomicBoolean();

    private TcpLog() {}

    /** Logs a connection for which the rules select TCP. */
    public static void byRule(InetSocketAddress to) {
        LOGGER.log(
                HAS_LOGGED.getAndSet(true) ? Level.DEBUG : Level.INFO,
                "Connecting to {0} over TCP, by the rules of -D{1}. Other such connections are logged at level DEBUG",
                to,
                AddressRules.PROPERTY);
    }
}
