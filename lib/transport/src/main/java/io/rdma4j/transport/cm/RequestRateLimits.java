package io.rdma4j.transport.cm;

import io.rdma4j.value.Gid;
import io.rdma4j.wire.cm.CmRoute;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Limits the rate of requests and the resources held, for each source address (decision 026). An address is tracked
 * while it has a connection. Of the others the {@value #MAX_IDLE_SOURCES} most recently used are tracked, so that a
 * flood from forged addresses does not displace connected ones.
 */
final class RequestRateLimits {
    /** Maximum number of tracked addresses without a connection. */
    static final int MAX_IDLE_SOURCES = 4096;

    /**
     * Factor by which the rate for requests to the source's own address is higher. Such requests come from all
     * processes of a host, none of which comes near the limit. There is a limit because on IPv6 the system accepts
     * packets from the network with its own address as their source.
     */
    private static final int SAME_ADDRESS_FACTOR = 32;

    /** Divisor of a limit: this fraction of it is reserved for addresses without half-open connections. */
    private static final int RESERVED_FRACTION = 32;

    /** Rate and burst of retransmitted replies to addresses that have never answered one. */
    private static final int RETRANSMISSIONS_PER_SECOND = 100;

    private static final int RETRANSMISSION_BURST = 1000;

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** A rate limiter with an average rate and a burst size (generic cell rate algorithm). */
    private static final class Bucket {
        private final long intervalNanos;
        private final long burstNanos;

        Bucket(long perSecond, long burst) {
            intervalNanos = Math.max(1, NANOS_PER_SECOND / perSecond);
            burstNanos = (burst - 1) * intervalNanos;
        }

        /**
         * Returns the theoretical arrival time after one more event.
         *
         * @param level theoretical arrival time before the event
         * @return the new value, or {@code level} if the event exceeds the limit
         */
        long take(long nowNanos, long level) {
            long from = Math.max(level, nowNanos);
            return from - nowNanos > burstNanos ? level : from + intervalNanos;
        }
    }

    /** A source address. */
    static final class Source {
        private final Gid address;

        /** Number of connections that it requested and that wait for accept or RTU, or in a backlog. */
        int halfOpen;

        /** Number of connections that it requested and that have ended, but whose packets may still be in flight. */
        int inTimewait;

        /** Number of connections that it requested, with those in time-wait. */
        private int connections;

        /** True if a response has shown that the address is not merely a forged source. */
        boolean hasAnswered;

        private long level = Long.MIN_VALUE;

        Source(Gid address) {
            this.address = address;
        }

        /**
         * Returns whether it has as many connections that have not ended as one address may have, or twice as many with those in
         * time-wait.
         */
        boolean isFull(int maxConnections) {
            return connections - inTimewait >= maxConnections || connections / 2 >= maxConnections;
        }
    }

    private final Bucket requests;
    private final Bucket requestsToSameAddress;
    private final Bucket retransmissions = new Bucket(RETRANSMISSIONS_PER_SECOND, RETRANSMISSION_BURST);
    private final Map<Gid, Source> connected = new HashMap<>();

    /** Sources without a connection, least recently used first. */
    private final Map<Gid, Source> idle = new LinkedHashMap<>(16, 0.75f, true);

    private long retransmissionLevel = Long.MIN_VALUE;

    RequestRateLimits(CmConfiguration configuration) {
        requests = new Bucket(configuration.requestsPerSecond(), configuration.requestBurst());
        requestsToSameAddress = new Bucket(
                (long) SAME_ADDRESS_FACTOR * configuration.requestsPerSecond(),
                (long) SAME_ADDRESS_FACTOR * configuration.requestBurst());
    }

    /** Returns the entry of an address, created if it is not tracked. */
    Source of(Gid address) {
        Source source = connected.get(address);
        if (source == null) {
            source = idle.get(address);
        }
        return source == null ? addIdle(new Source(address)) : source;
    }

    private Source addIdle(Source source) {
        if (idle.size() >= MAX_IDLE_SOURCES) {
            Iterator<Source> eldest = idle.values().iterator();
            eldest.next();
            eldest.remove();
        }
        idle.put(source.address, source);
        return source;
    }

    /** Counts a new connection of the address. */
    void addConnection(Source source) {
        if (source.connections++ == 0) {
            idle.remove(source.address);
            connected.put(source.address, source);
        }
    }

    /** Removes a connection of the address that has ended. */
    void removeConnection(Source source) {
        if (--source.connections == 0) {
            connected.remove(source.address);
            addIdle(source);
        }
    }

    /** Returns the number of tracked addresses. */
    int size() {
        return connected.size() + idle.size();
    }

    /** Returns whether another request of an address is accepted now, and counts it if so. */
    boolean admits(long nowNanos, Source source, CmRoute route) {
        Bucket bucket = isSameAddress(route) ? requestsToSameAddress : requests;
        long level = bucket.take(nowNanos, source.level);
        boolean isAdmitted = level != source.level;
        source.level = level;
        return isAdmitted;
    }

    /** Returns whether both ends have the same address. The source then represents all processes of the host. */
    static boolean isSameAddress(CmRoute route) {
        return route.local().equals(route.remote());
    }

    /**
     * Returns whether an address may get another of {@code max} resources, of which {@code held} are in use. The last
     * ones are reserved for addresses without half-open connections.
     */
    static boolean hasRoom(int held, int max, Source source) {
        int reserved = source.halfOpen > 0 ? max / RESERVED_FRACTION : 0;
        return held < max - reserved;
    }

    /**
     * Returns whether an unanswered reply may be retransmitted now. Always true for addresses that have answered
     * before.
     */
    boolean mayRetransmit(long nowNanos, Source source) {
        if (source.hasAnswered) {
            return true;
        }
        long level = retransmissions.take(nowNanos, retransmissionLevel);
        boolean isAdmitted = level != retransmissionLevel;
        retransmissionLevel = level;
        return isAdmitted;
    }
}
