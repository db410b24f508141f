package io.rdma4j.sockets.io;

import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.ConnectException;
import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

/**
 * The peers that refused a connection over RDMA or did not answer, by address and port, for a limited time. A socket
 * that may use either transport connects to them over TCP without trying RDMA. Thread safe.
 */
public final class RefusedPeers {
    /** The time without an answer after which a peer is remembered for the full time. */
    private static final long FULL_WAIT_NANOS = 1_000_000_000L;

    private final int maxPeers;
    private final long expiryNanos;
    private final LongSupplier clock;

    /** The time at which each peer is forgotten, in the order of the refusals; guarded by this. */
    private final Map<InetSocketAddress, Long> expiries = new LinkedHashMap<>();

    private final AtomicBoolean fallBackLogged = new AtomicBoolean();
    private final AtomicBoolean refusalLogged = new AtomicBoolean();

    /**
     * Creates an empty table.
     *
     * @param maxPeers maximum number of peers; a further one replaces the oldest; 0 to remember none
     * @param expiryNanos time in nanoseconds after which a peer is forgotten
     * @param clock current time in nanoseconds
     */
    RefusedPeers(int maxPeers, long expiryNanos, LongSupplier clock) {
        this.maxPeers = maxPeers;
        this.expiryNanos = expiryNanos;
        this.clock = clock;
    }

    /**
     * Creates an empty table according to the properties {@value AddressRules#REFUSED_PEERS_PROPERTY} and
     * {@value AddressRules#REFUSED_SECONDS_PROPERTY}.
     *
     * @param clock current time in nanoseconds
     */
    static RefusedPeers ofProperties(LongSupplier clock) {
        int maxPeers = NumberProperty.read(
                AddressRules.REFUSED_PEERS_PROPERTY, AddressRules.DEFAULT_REFUSED_PEERS, 0, Integer.MAX_VALUE);
        int seconds = NumberProperty.read(
                AddressRules.REFUSED_SECONDS_PROPERTY, AddressRules.DEFAULT_REFUSED_SECONDS, 0, Integer.MAX_VALUE);
        return new RefusedPeers(maxPeers, TimeUnit.SECONDS.toNanos(seconds), clock);
    }

    /** Returns whether a peer has refused RDMA and is not forgotten yet. */
    public synchronized boolean contains(InetSocketAddress peer) {
        Long expiry = expiries.get(peer);
        if (expiry != null && clock.getAsLong() - expiry >= 0) {
            expiries.remove(peer);
            return false;
        }
        return expiry != null;
    }

    /** Forgets a peer: a connection over RDMA has succeeded, or one over TCP has failed. */
    public synchronized void forget(InetSocketAddress peer) {
        expiries.remove(peer);
    }

    /**
     * Handles a failed attempt over RDMA after which TCP is tried. Remembers the peer if it has refused or not
     * answered, but not after a local error. Logs the first failure at level INFO, others at DEBUG.
     */
    public void onFallBack(InetSocketAddress peer, IOException why) {
        onFallBack(peer, why, FULL_WAIT_NANOS);
    }

    /**
     * Handles a failed attempt, like {@link #onFallBack(InetSocketAddress, IOException)}.
     *
     * @param waitedNanos the time that the peer was given to answer. A peer that had less than a second to answer is
     *     remembered for a shorter time, since it may just have started
     */
    public void onFallBack(InetSocketAddress peer, IOException why, long waitedNanos) {
        if (why instanceof ConnectException) {
            remember(peer, (long) (expiryNanos * Math.min(1.0, (double) waitedNanos / FULL_WAIT_NANOS)));
        }
        Level level = fallBackLogged.compareAndSet(false, true) ? Level.INFO : Level.DEBUG;
        logger().log(
                        level,
                        "Connecting to {0} over TCP, since RDMA failed: {1}. The rule {0}=tcp in -D{2} avoids this attempt, and"
                                + " {0}=rdma avoids TCP. Other peers are logged at level DEBUG",
                        destination(peer),
                        why.getMessage(),
                        AddressRules.PROPERTY);
    }

    private synchronized void remember(InetSocketAddress peer, long forNanos) {
        expiries.remove(peer);
        expiries.put(SocketFamily.withoutName(peer), clock.getAsLong() + forNanos);
        while (expiries.size() > maxPeers) {
            expiries.remove(expiries.keySet().iterator().next());
        }
    }

    /**
     * Returns the exception for a peer that the rules reach only over RDMA. If the peer has refused or not answered,
     * the message names the rule that would try TCP. The first such exception is logged at level WARNING.
     */
    public IOException advised(IOException failed, InetSocketAddress peer) {
        if (!(failed instanceof ConnectException)) {
            return failed;
        }
        String rule = destination(peer) + "=either";
        ConnectException advised = new ConnectException(failed.getMessage() + "; if " + destination(peer)
                + " listens with TCP, the rule " + rule + " before the others of -D" + AddressRules.PROPERTY
                + " reaches it");
        advised.initCause(failed);
        if (refusalLogged.compareAndSet(false, true)) {
            logger().log(Level.WARNING, advised.getMessage());
        }
        return advised;
    }

    /** Returns an address in the syntax of rules, with the host name if the program used one. */
    private static String destination(InetSocketAddress peer) {
        String host = peer.getHostString();
        boolean isLiteral = peer.getAddress() instanceof Inet6Address && host.indexOf(':') >= 0;
        return (isLiteral ? "[" + host + "]" : host) + ":" + peer.getPort();
    }

    /** Looked up for each message: a logger in a field would set up logging before the program can configure it. */
    private static Logger logger() {
        return System.getLogger(RefusedPeers.class.getName());
    }
}
