package io.rdma4j.sockets.io;

import io.rdma4j.sockets.options.AddressRules;
import io.rdma4j.sockets.options.AddressRules.Transport;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetSocketAddress;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The choice between RDMA and TCP for one attempt to connect. It follows the rules; where they allow both, RDMA is tried first,
 * unless the peer has refused it recently (decision 040). Immutable.
 */
public final class TransportChoice {
    /** The maximum time of an attempt over RDMA before TCP is tried. */
    private static final long MAX_RDMA_NANOS = 1_000_000_000L;

    private static final AtomicBoolean RULE_LOGGED = new AtomicBoolean();

    private final RefusedPeers refusedPeers;
    private final InetSocketAddress peer;
    private final Transport transport;
    private final boolean hasRules;
    private final boolean hasRefused;

    private TransportChoice(AddressRules rules, RefusedPeers refusedPeers, InetSocketAddress peer) {
        this.refusedPeers = refusedPeers;
        this.peer = peer;
        transport = rules.transportTo(peer);
        hasRules = !rules.isEmpty();
        hasRefused = transport == Transport.EITHER && refusedPeers.contains(peer);
    }

    /** Chooses the transport for a peer. Logs the choice if the rules require TCP: the first at level INFO, others at DEBUG. */
    public static TransportChoice of(AddressRules rules, RefusedPeers refusedPeers, InetSocketAddress peer) {
        TransportChoice choice = new TransportChoice(rules, refusedPeers, peer);
        if (choice.transport == Transport.TCP) {
            logger().log(
                            RULE_LOGGED.getAndSet(true) ? Level.DEBUG : Level.INFO,
                            "Connecting to {0} over TCP, according to -D{1}. Other such connections are logged at level DEBUG",
                            peer,
                            AddressRules.PROPERTY);
        }
        return choice;
    }

    /** Logs that a server socket listens over TCP only, since RDMA cannot be used at its address. */
    public static void logListeningWithoutRdma(InetSocketAddress at, IOException why) {
        logger().log(Level.WARNING, "Listening at {0} over TCP only, since RDMA failed: {1}", at, why.getMessage());
    }

    /** Returns whether the connection uses TCP, without an attempt over RDMA. */
    public boolean isTcp() {
        return transport == Transport.TCP || hasRefused;
    }

    /** Returns whether TCP is tried after a failed attempt over RDMA. */
    public boolean mayFallBack() {
        return transport == Transport.EITHER && !hasRefused;
    }

    /**
     * Returns the time for which an attempt over RDMA waits for the peer before TCP is tried: a second, but at most half of the
     * program's timeout.
     *
     * @param timeoutMillis the program's timeout in milliseconds; 0 for none
     */
    public long rdmaNanos(int timeoutMillis) {
        return timeoutMillis == 0
                ? MAX_RDMA_NANOS
                : Math.min(MAX_RDMA_NANOS, TimeUnit.MILLISECONDS.toNanos(timeoutMillis) / 2);
    }

    /**
     * Handles a failed attempt over RDMA, after which TCP is tried.
     *
     * @param waitedNanos the time that the peer was given to answer
     */
    public void onFallBack(IOException why, long waitedNanos) {
        refusedPeers.onFallBack(peer, why, waitedNanos);
    }

    /** Handles a connection that is established over RDMA. */
    public void onRdmaEstablished() {
        refusedPeers.forget(peer);
    }

    /**
     * Handles the failure of the attempt. The next one tries both transports again.
     *
     * @return the exception to throw; if the rules excluded TCP, its message names the rule that would try TCP
     */
    public IOException onFailed(IOException failed) {
        if (hasRefused) {
            refusedPeers.forget(peer);
        }
        return hasRules && transport == Transport.RDMA ? refusedPeers.advised(failed, peer) : failed;
    }

    /** Looked up for each message: a logger in a field would set up logging before the program can configure it. */
    private static Logger logger() {
        return System.getLogger(TransportChoice.class.getName());
    }
}
