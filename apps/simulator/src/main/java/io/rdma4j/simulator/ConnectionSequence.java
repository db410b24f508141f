package io.rdma4j.simulator;

import io.rdma4j.simulator.network.SimulatedHost;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Two applications, on one host or two, that connect and disconnect up to three times. */
final class ConnectionSequence {
    private static final int MAX_ATTEMPTS = 3;
    private static final long MAX_PAUSE_NANOS = 20_000_000;

    private final ClusterRun run;
    private final SideKind kind;
    private final String name;
    private final SimulatedHost activeHost;
    private final SimulatedHost passiveHost;
    private final SplittableRandom random;
    private final List<SimulatedConnection> attempts = new ArrayList<>();
    private int attemptsLeft;
    private long nextAttemptNanos;

    ConnectionSequence(
            ClusterRun run,
            SideKind kind,
            String name,
            SimulatedHost activeHost,
            SimulatedHost passiveHost,
            SplittableRandom random) {
        this.run = run;
        this.kind = kind;
        this.name = name;
        this.activeHost = activeHost;
        this.passiveHost = passiveHost;
        this.random = random;
        attemptsLeft = random.nextInt(1, MAX_ATTEMPTS + 1);
        nextAttemptNanos = random.nextLong(MAX_PAUSE_NANOS);
    }

    /** Does some of the pending work. */
    void work() {
        for (SimulatedConnection attempt : attempts) {
            attempt.work();
        }
        long now = run.network().nowNanos();
        if (attemptsLeft > 0 && now >= nextAttemptNanos && isFree()) {
            attemptsLeft--;
            nextAttemptNanos = now + random.nextLong(MAX_PAUSE_NANOS);
            int number = run.nextAttemptNumber();
            SimulatedConnection attempt = new SimulatedConnection(
                    run, kind, name + "." + attempts.size(), number, activeHost, passiveHost, random.split());
            attempts.add(attempt);
            run.register(number, attempt);
            attempt.begin();
        }
    }

    private boolean isFree() {
        return activeHost.isUp()
                && !activeHost.isPaused()
                && (attempts.isEmpty() || attempts.getLast().isActiveEnded());
    }

    /** Returns the time at which {@link #work} must be called, or {@link Long#MAX_VALUE} for none. */
    long nextNanos() {
        return attemptsLeft > 0 && isFree() ? nextAttemptNanos : Long.MAX_VALUE;
    }

    /** Notifies the connections of the crash of a host. */
    void onCrash(SimulatedHost host) {
        attempts.forEach(attempt -> attempt.onCrash(host));
    }

    /** Returns whether no further event can occur; a host that is down starts no connections. */
    boolean isOver() {
        if (attemptsLeft > 0 && activeHost.isUp()) {
            return false;
        }
        for (int i = attempts.size() - 1; i >= 0; i--) { // the last attempt is usually the unfinished one
            if (!attempts.get(i).isOver()) {
                return false;
            }
        }
        return true;
    }

    /** Returns the number of connections that completed all planned work. */
    int completed() {
        return (int) attempts.stream().filter(SimulatedConnection::isComplete).count();
    }

    /** Returns the number of connections that were requested. */
    int attempted() {
        return attempts.size();
    }

    /** Returns the first unfinished connection, for messages. */
    @Nullable
    SimulatedConnection unfinished() {
        return attempts.stream().filter(each -> !each.isOver()).findFirst().orElse(null);
    }

    /** Runs the final checks. */
    void checkEnd() {
        attempts.forEach(SimulatedConnection::checkEnd);
    }
}
