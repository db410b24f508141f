package io.rdma4j.soft.device;

import io.rdma4j.soft.options.CongestionOption;
import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.transport.CongestionMarks;
import io.rdma4j.transport.SourcePortCheck;
import io.rdma4j.value.Gid;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * The information about peers that connection management and the data path share. Thread safe.
 *
 * <p>It consists of the queue pairs that belong to rdma4j, whose packets come from one UDP port and which may report congestion
 * marks, and of the addresses that have tried to access memory without permission.
 */
public final class PeerReputation {
    private record QueuePair(Gid address, int number) {}

    /**
     * The number of illegal accesses within {@link #WINDOW_NANOS} after which requests from an address are rejected for the same
     * time.
     */
    static final int MAX_VIOLATIONS = 5;

    static final long WINDOW_NANOS = 60_000_000_000L;

    /** The maximum number of addresses with recorded illegal accesses. Beyond that, the oldest are removed. */
    private static final int MAX_VIOLATORS = 1024;

    private static final class Violator {
        private long firstNanos;
        private int count;
        private long refusedUntilNanos;
        private boolean isRefused;
    }

    private final SecurityOptions.SourcePort sourcePort;
    private final SecurityOptions.Violations punishedAddresses;
    private final CongestionOption congestion;
    private final Duration keepAlive;
    private final Predicate<Gid> isLocal;

    /** In the order of their first access. The map's lock also guards the entries. */
    private final Map<Gid, Violator> violators = new LinkedHashMap<>();

    private volatile boolean hasViolators;

    private record Report(Object source, boolean reportsMarks) {}

    /** The queue pairs of rdma4j, and what was reported about each. */
    private final ConcurrentHashMap<QueuePair, Report> rdma4jQueuePairs = new ConcurrentHashMap<>();

    /**
     * Creates an empty record.
     *
     * @param sourcePort how connections treat other UDP ports
     * @param punishedAddresses the addresses whose illegal accesses have consequences
     * @param congestion when connections send packets that routers may mark
     * @param keepAlive the idle time after which rdma4j peers of other hosts are probed, zero for never
     * @param isLocal tests whether an address belongs to this host
     */
    PeerReputation(
            SecurityOptions.SourcePort sourcePort,
            SecurityOptions.Violations punishedAddresses,
            CongestionOption congestion,
            Duration keepAlive,
            Predicate<Gid> isLocal) {
        this.sourcePort = sourcePort;
        this.punishedAddresses = punishedAddresses;
        this.congestion = congestion;
        this.keepAlive = keepAlive;
        this.isLocal = isLocal;
    }

    /** Records that a peer at an address has used a key, an address or a right that it does not have. */
    public void noteViolation(Gid address, long nowNanos) {
        boolean counts = switch (punishedAddresses) {
            case OFF -> false;
            case REMOTE -> !isLocal.test(address);
            case ALL -> true;
        };
        if (!counts) {
            return;
        }
        synchronized (violators) {
            Violator violator = violators.get(address);
            if (violator == null) {
                if (violators.size() == MAX_VIOLATORS) {
                    violators.remove(violators.keySet().iterator().next());
                }
                violator = new Violator();
                violator.firstNanos = nowNanos;
                violators.put(address, violator);
                hasViolators = true;
            }
            if (nowNanos - violator.firstNanos > WINDOW_NANOS) {
                violator.firstNanos = nowNanos;
                violator.count = 0;
            }
            if (++violator.count >= MAX_VIOLATIONS) {
                violator.refusedUntilNanos = nowNanos + WINDOW_NANOS;
                violator.isRefused = true;
            }
        }
    }

    /** Returns whether connection requests from an address are currently rejected. */
    public boolean isRefused(Gid address, long nowNanos) {
        if (!hasViolators) {
            return false;
        }
        synchronized (violators) {
            Violator violator = violators.get(address);
            return violator != null && violator.isRefused && nowNanos - violator.refusedUntilNanos < 0;
        }
    }

    /**
     * Records that a queue pair of rdma4j is the peer of a new connection.
     *
     * @param reportsMarks {@code true} if it reports congestion marks to their sender
     * @param source the reporter, for {@link #forget}
     */
    public void noteRdma4jPeer(Gid address, int number, boolean reportsMarks, Object source) {
        rdma4jQueuePairs.put(new QueuePair(address, number), new Report(source, reportsMarks));
    }

    /** Removes a record of {@link #noteRdma4jPeer}, unless another source has reported the same since. */
    public void forget(Gid address, int number, Object source) {
        rdma4jQueuePairs.computeIfPresent(
                new QueuePair(address, number), (_, report) -> report.source.equals(source) ? null : report);
    }

    /** Returns how a connection to a queue pair treats packets from another UDP port. */
    SourcePortCheck sourcePortCheck(Gid address, int number) {
        return switch (sourcePort) {
            case OFF -> SourcePortCheck.OFF;
            case COUNT -> SourcePortCheck.COUNT;
            case ENFORCE -> SourcePortCheck.ENFORCE;
            case AUTO ->
                rdma4jQueuePairs.containsKey(new QueuePair(address, number))
                        ? SourcePortCheck.ENFORCE
                        : SourcePortCheck.COUNT;
        };
    }

    /** Returns when a connection to a queue pair sends packets that routers may mark. */
    CongestionMarks congestionMarks(Gid address, int number) {
        return switch (congestion) {
            case OFF -> CongestionMarks.OFF;
            case ON -> CongestionMarks.ON;
            case AUTO -> {
                Report report = rdma4jQueuePairs.get(new QueuePair(address, number));
                yield report != null && report.reportsMarks ? CongestionMarks.ON : CongestionMarks.LEARN;
            }
        };
    }

    /**
     * Returns the idle time after which a connection to a queue pair is probed, zero for never. Peers on this host are not
     * probed: their exit is noticed without that.
     */
    Duration keepAlive(Gid address, int number) {
        boolean isProbed = rdma4jQueuePairs.containsKey(new QueuePair(address, number)) && !isLocal.test(address);
        return isProbed ? keepAlive : Duration.ZERO;
    }
}
