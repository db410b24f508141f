package io.rdma4j.harness.exec;

import io.rdma4j.harness.Case;
import io.rdma4j.harness.CaseFailure;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** Collects the cases. The hosts exist when they run. */
final class ExecCases {
    /** {@code --quick} runs the case. */
    static final boolean QUICK = true;

    /** {@code --quick} does not run the case. */
    static final boolean FULL = false;

    /** The content of a case. */
    @FunctionalInterface
    interface Body {
        void run(ExecStage stage) throws CaseFailure, IOException, InterruptedException;
    }

    private final Supplier<ExecHosts> hosts;
    private final Path home;
    private final List<Case> all = new ArrayList<>();

    ExecCases(Supplier<ExecHosts> hosts, Path home) {
        this.hosts = hosts;
        this.home = home;
    }

    /** Returns the cases in the order of their definition. */
    List<Case> all() {
        return all;
    }

    /** Adds a case of one program in C. */
    void add(String name, boolean isQuick, int limitSeconds, Body body) {
        add(name, "C", isQuick, limitSeconds, body);
    }

    /** Adds a case of two programs. */
    void add(String name, Roles roles, boolean isQuick, int limitSeconds, Body body) {
        add(name, roles.toString(), isQuick, limitSeconds, body);
    }

    private void add(String name, String roles, boolean isQuick, int limitSeconds, Body body) {
        all.add(new Case(
                name,
                roles,
                isQuick,
                Duration.ofSeconds(limitSeconds),
                stage -> body.run(new ExecStage(stage, hosts.get(), home))));
    }

    /** Adds a case for each combination of roles. */
    void addPairs(String name, boolean isQuick, Pair pair) {
        for (Roles roles : Roles.ALL) {
            addPair(name, roles, isQuick, 30, pair);
        }
    }

    /** Adds a case for one combination of roles. */
    void addPair(String name, Roles roles, boolean isQuick, int limitSeconds, Pair pair) {
        add(name, roles, isQuick, limitSeconds, stage -> pair.run(stage, roles));
    }
}
