package io.rdma4j.soft.device;

import io.rdma4j.soft.options.SecurityOptions;
import io.rdma4j.transport.SourcePortCheck;
import io.rdma4j.verbs.Gid;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;

/**
 * What connection management and the data path tell each other of peers: which queue pairs are rdma4j's, whose packets keep to
 * one UDP port, and which addresses have tried to get at memory that is not for them. Thread safe.
 */
public final class PeerReputation {
    private record QueuePair(Gid address, int number) {}

    /** Illegal accesses within {@link #WINDOW_NANOS} after which the requests of an address are refused as long. */
    static final int MOST_VIOLATIONS = 5;

    static final long WINDOW_NANOS = 60_000_000_000L;

    /** Addresses whose illegal accesses are remembered; of more, the oldest are forgotten. */
    private static final int MOST_VIOLATORS = 1024;

    private static final class Violator {
        private long firstNanos;
        private int count;
        private long refusedUntilNanos;
        private boolean isRefused;
    }

    private final SecurityOptions.SourcePort sourcePort;
    private final SecurityOptions.Violations punished;
    private final Predicate<Gid> isOwn;

    /** In the order of their first access; each is guarded by the map. */
    private final Map<Gid, Violator> violators = new LinkedHashMap<>();

    private volatile boolean hasViolators;

    /** Queue pairs of rdma4j, and who told of them. */
    private final ConcurrentHashMap<QueuePair, Object> rdma4jQueuePairs = new ConcurrentHashMap<>();

    /**
     * Knows nobody.
     *
     * @param sourcePort what connections do about UDP ports
     * @param punished whose illegal accesses have a consequence
     * @param isOwn whether an address is one of this host
     */
    PeerReputation(SecurityOptions.SourcePort sourcePort, SecurityOptions.Violations punished, Predicate<Gid> isOwn) {
        this.sourcePort = sourcePort;
        this.punished = punished;
        this.isOwn = isOwn;
    }

    /** A peer at an address has used a key, an address or a right that it does not have. */
    public void noteViolation(Gid address, long nowNanos) {
        boolean counts = switch (punished) {
            case OFF -> false;
            case REMOTE -> !isOwn.test(address);
            case ALL -> true;
        };
        if (!counts) {
            return;
        }
        synchronized (violators) {
            Violator violator = violators.get(address);
            if (violator == null) {
                if (violators.size() == MOST_VIOLATORS) {
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
            if (++violator.count >= MOST_VIOLATIONS) {
                violator.refusedUntilNanos = nowNanos + WINDOW_NANOS;
                violator.isRefused = true;
            }
        }
    }

    /** Whether connection requests from an address are refused now. */
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
     * A connection is being made with a queue pair of rdma4j.
     *
     * @param teller who says so, for {@link #forget}
     */
    public void noteKin(Gid address, int number, Object teller) {
        rdma4jQueuePairs.put(new QueuePair(address, number), teller);
    }

    /** Takes {@link #noteKin} back, unless somebody else has said the same since. */
    public void forget(Gid address, int number, Object teller) {
        rdma4jQueuePairs.remove(new QueuePair(address, number), teller);
    }

    /** What a connection to a queue pair is to do with packets from another UDP port. */
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
}
