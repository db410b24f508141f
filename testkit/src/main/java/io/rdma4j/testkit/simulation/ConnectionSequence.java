package io.rdma4j.testkit.simulation;

import io.rdma4j.testkit.SimulatedHost;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** Two applications on two hosts, or on one, that connect, part, and maybe connect again. */
final class ConnectionSequence {
    private static final int MOST_ATTEMPTS = 3;
    private static final long MOST_PAUSE_NANOS = 20_000_000;

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
        attemptsLeft = random.nextInt(1, MOST_ATTEMPTS + 1);
        nextAttemptNanos = random.nextLong(MOST_PAUSE_NANOS);
    }

    /** Does some of what there is to do. */
    void work() {
        for (SimulatedConnection attempt : attempts) {
            attempt.work();
        }
        long now = run.network().nowNanos();
        if (attemptsLeft > 0 && now >= nextAttemptNanos && isFree()) {
            attemptsLeft--;
            nextAttemptNanos = now + random.nextLong(MOST_PAUSE_NANOS);
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

    /** When it wants to be asked again, whatever happens; {@link Long#MAX_VALUE} for nothing special. */
    long nextNanos() {
        return attemptsLeft > 0 && isFree() ? nextAttemptNanos : Long.MAX_VALUE;
    }

    /** A host has crashed. */
    void onCrash(SimulatedHost host) {
        attempts.forEach(attempt -> attempt.onCrash(host));
    }

    /** Whether nothing is left to happen; a host that never comes back asks for nothing. */
    boolean isOver() {
        return (attemptsLeft == 0 || !activeHost.isUp()) && attempts.stream().allMatch(SimulatedConnection::isOver);
    }

    /** Connections that did all they meant to. */
    int completed() {
        return (int) attempts.stream().filter(SimulatedConnection::isComplete).count();
    }

    /** Connections that were asked for. */
    int attempted() {
        return attempts.size();
    }

    /** The first attempt that is not over, for a message. */
    @Nullable
    SimulatedConnection unfinished() {
        return attempts.stream().filter(each -> !each.isOver()).findFirst().orElse(null);
    }

    /** Checks all that must hold when everything is over. */
    void checkEnd() {
        attempts.forEach(SimulatedConnection::checkEnd);
    }
}
