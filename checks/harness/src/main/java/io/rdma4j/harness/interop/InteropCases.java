package io.rdma4j.harness.interop;

import io.rdma4j.harness.Case;
import io.rdma4j.harness.Case.Extent;
import io.rdma4j.harness.CaseFailure;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Collects the cases. The world exists when they run. */
final class InteropCases {
    /** The content of a case. */
    @FunctionalInterface
    interface Body {
        void run(InteropStage stage) throws CaseFailure, IOException, InterruptedException;
    }

    private record Entry(Roles roles, Case definition) {}

    final Setting setting;
    private final Supplier<World> world;
    private final List<Entry> all = new ArrayList<>();

    InteropCases(Setting setting, Supplier<World> world) {
        this.setting = setting;
        this.world = world;
    }

    /** Returns the cases whose roles match, in the order of their definition. */
    List<Case> all(Predicate<Roles> predicate) {
        return all.stream()
                .filter(each -> predicate.test(each.roles()))
                .map(Entry::definition)
                .toList();
    }

    /**
     * Adds a case.
     *
     * @param expected the expected result in a few words
     * @param seconds the limit of each of its processes
     */
    void add(String name, Roles roles, String expected, Extent extent, int seconds, Body body) {
        Case.Body whole = stage -> {
            stage.endBy("INT");
            world.get().begin(roles, stage);
            body.run(new InteropStage(stage, world.get(), roles));
        };
        add(roles, new Case(name, setting.who(roles), expected, extent, Duration.ofSeconds(seconds), whole));
    }

    /** Adds a case that the peer cannot run: it is listed with the reason, and not counted as passed. */
    void cannot(String name, Roles roles, Extent extent, String reason) {
        Case.Body nothing = new Case.Impossible(reason);
        add(roles, new Case(name, setting.who(roles), "cannot run", extent, Duration.ZERO, nothing));
    }

    private void add(Roles roles, Case definition) {
        all.add(new Entry(roles, definition));
    }
}
