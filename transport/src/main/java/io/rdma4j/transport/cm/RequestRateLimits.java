package io.rdma4j.transport.cm;

import io.rdma4j.wire.Gid;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What an agent remembers of the addresses that requests come from, so that none of them takes all: how many it looks at,
 * and what it holds for each. An address is remembered while it has a connection. Of the others the latest {@value #MOST}
 * are, so that a flood from forged addresses takes no place from anybody else.
 */
final class RequestRateLimits {
    /** Addresses without a connection that are remembered. */
    static final int MOST = 4096;

    /**
     * How many times the rate of another address an address has for requests to itself, which come from all processes of a
     * host: none of them is near it. There is a limit because on IPv6 the system takes packets from the network that name
     * its own address as their sender.
     */
    private static final int SHARE_WITHIN_ADDRESS = 32;

    /** A part of what is limited in total that is kept for addresses that have nothing of it. */
    private static final int RESERVED_PART = 32;

    /** Replies that are repeated, in a second and at once, to addresses that have never answered one. */
    private static final int REPETITIONS_PER_SECOND = 100;

    private static final int REPETITIONS_AT_ONCE = 1000;

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** Lets a number of things happen in a second on the average, and another one at once. */
    private static final class Bucket {
        private final long intervalNanos;
        private final long aheadNanos;

        Bucket(long perSecond, long atOnce) {
            intervalNanos = Math.max(1, NANOS_PER_SECOND / perSecond);
            aheadNanos = (atOnce - 1) * intervalNanos;
        }

        /**
         * The level after one more.
         *
         * @param level the time from which on the bucket is as full as it can be, before
         * @return the same time after, or {@code level} if it must not happen
         */
        long take(long nowNanos, long level) {
            long from = Math.max(level, nowNanos);
            return from - nowNanos > aheadNanos ? level : from + intervalNanos;
        }
    }

    /** One address. */
    static final class Source {
        private final Gid address;

        /** Connections that it has asked for and that wait for accept or RTU. */
        int halfOpen;

        private int connections;

        /** Whether an answer from it showed that it is there, and not only named as a sender. */
        boolean hasAnswered;

        private long level = Long.MIN_VALUE;

        Source(Gid address) {
            this.address = address;
        }

        /** Connections that it has asked for and that have not ended. */
        int connections() {
            return connections;
        }
    }

    private final Bucket requests;
    private final Bucket requestsWithinAddress;
    private final Bucket repetitions = new Bucket(REPETITIONS_PER_SECOND, REPETITIONS_AT_ONCE);
    private final Map<Gid, Source> connected = new HashMap<>();

    /** Those without a connection, the one unheard of for longest first. */
    private final Map<Gid, Source> idle = new LinkedHashMap<>(16, 0.75f, true);

    private long repetitionLevel = Long.MIN_VALUE;

    RequestRateLimits(CmConfiguration configuration) {
        requests = new Bucket(configuration.requestsPerSecond(), configuration.requestBurst());
        requestsWithinAddress = new Bucket(
                (long) SHARE_WITHIN_ADDRESS * configuration.requestsPerSecond(),
                (long) SHARE_WITHIN_ADDRESS * configuration.requestBurst());
    }

    /** What is known of an address; made if there is nothing. */
    Source of(Gid address) {
        Source source = connected.get(address);
        if (source == null) {
            source = idle.get(address);
        }
        return source == null ? remember(new Source(address)) : source;
    }

    private Source remember(Source source) {
        if (idle.size() >= MOST) {
            Iterator<Source> longestUnheard = idle.values().iterator();
            longestUnheard.next();
            longestUnheard.remove();
        }
        idle.put(source.address, source);
        return source;
    }

    /** The address has one connection more. */
    void addConnection(Source source) {
        if (source.connections++ == 0) {
            idle.remove(source.address);
            connected.put(source.address, source);
        }
    }

    /** A connection of the address has ended. */
    void removeConnection(Source source) {
        if (--source.connections == 0) {
            connected.remove(source.address);
            remember(source);
        }
    }

    /** Addresses that are remembered now. */
    int size() {
        return connected.size() + idle.size();
    }

    /** Whether one more request of an address is looked at now. */
    boolean admits(long nowNanos, Source source, CmRoute route) {
        Bucket bucket = isWithinAddress(route) ? requestsWithinAddress : requests;
        long level = bucket.take(nowNanos, source.level);
        boolean isTaken = level != source.level;
        source.level = level;
        return isTaken;
    }

    /** Whether both ends have one address: then a source is not one process but all of them. */
    static boolean isWithinAddress(CmRoute route) {
        return route.local().equals(route.remote());
    }

    /**
     * Whether one more can be held for an address where {@code held} of {@code most} are: the last few are for addresses that
     * have nothing under way.
     */
    static boolean hasRoom(int held, int most, Source source) {
        int reserved = source.halfOpen > 0 ? most / RESERVED_PART : 0;
        return held < most - reserved;
    }

    /** Whether a reply may be repeated now because no answer came; all may that are for an address that has answered before. */
    boolean mayRepeat(long nowNanos, Source source) {
        if (source.hasAnswered) {
            return true;
        }
        long level = repetitions.take(nowNanos, repetitionLevel);
        boolean isTaken = level != repetitionLevel;
        repetitionLevel = level;
        return isTaken;
    }
}
