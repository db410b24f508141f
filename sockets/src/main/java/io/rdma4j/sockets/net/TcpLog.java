package io.rdma4j.sockets.net;

import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;

/** Logs connections for which the rules select TCP: the first at level INFO, others at DEBUG. Thread safe. */
public final class TcpLog {
    private static final AtomicBoolean HAS_LOGGED_RULE = new AtomicBoolean();

    private TcpLog() {}

    /** Logs a connection for which the rules select TCP. */
    public static void byRule(InetSocketAddress to) {
        logger().log(
                        HAS_LOGGED_RULE.getAndSet(true) ? Level.DEBUG : Level.INFO,
                        "Connecting to {0} over TCP, according to -D{1}. Other such connections are logged at level DEBUG",
                        to,
                        AddressRules.PROPERTY);
    }

    /** Logs that a server socket listens over TCP only, since RDMA cannot be used at its address. */
    public static void listeningWithoutRdma(InetSocketAddress at, IOException why) {
        logger().log(Level.WARNING, "Listening at {0} over TCP only, since RDMA failed: {1}", at, why.getMessage());
    }

    /** Looked up for each message: a logger in a field would set up logging before the program can configure it. */
    private static Logger logger() {
        return System.getLogger(TcpLog.class.getName());
    }
}
