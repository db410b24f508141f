package io.rdma4j.tools.sim;

import io.rdma4j.simulator.Cluster;
import io.rdma4j.simulator.SimulationFailure;
import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** All runs of one invocation, some of which are concurrent. Standard output does not depend on the concurrency. */
final class SimRun {
    private static final long PROGRESS_SECONDS = 5;
    private static final int MAX_REPORTED_FAILURES = 5;
    private static final double NANOS_PER_SECOND = 1e9;

    /** A deterministic scenario: a seed always gives the same run. */
    @FunctionalInterface
    interface Scenario {
        /**
         * Runs the scenario with a seed.
         *
         * @param trace receives a line for each event, or null for no trace
         * @throws SimulationFailure if the run does not match the model
         */
        Cluster.Result run(long seed, @Nullable Consumer<String> trace);
    }

    private final SimOptions options;
    private final Scenario scenario;
    private final boolean trace;
    private final ToolEnvironment environment;
    private final AtomicLong nextRun = new AtomicLong();
    private final Totals totals = new Totals();

    SimRun(SimOptions options, Scenario scenario, boolean trace, ToolEnvironment environment) {
        this.options = options;
        this.scenario = scenario;
        this.trace = trace;
        this.environment = environment;
    }

    /** Performs all runs and reports the results. Returns the exit status. */
    int run() throws InterruptedException {
        environment
                .report()
                .parameter("seed", options.firstSeed())
                .parameter("runs", options.runs())
                .parameter("jobs", options.jobs());
        long start = System.nanoTime();
        CountDownLatch working = new CountDownLatch(options.jobs());
        for (int i = 0; i < options.jobs(); i++) {
            Thread.ofPlatform().daemon().name("sim-" + i).start(() -> {
                try {
                    doRuns();
                } finally {
                    working.countDown();
                }
            });
        }
        while (!working.await(PROGRESS_SECONDS, TimeUnit.SECONDS)) {
            environment
                    .err()
                    .printf(
                            Locale.ROOT,
                            "sim: %d of %d runs, %d failed%n",
                            totals.runs(),
                            options.runs(),
                            totals.failed());
        }
        report((System.nanoTime() - start) / NANOS_PER_SECOND);
        return totals.failed() == 0 ? 0 : 1;
    }

    private void doRuns() {
        for (long run = nextRun.getAndIncrement(); run < options.runs(); run = nextRun.getAndIncrement()) {
            long seed = options.firstSeed() + run;
            try {
                totals.add(scenario.run(seed, trace ? environment.err()::println : null));
            } catch (RuntimeException | Error failure) {
                totals.addFailure(seed);
                reportFailure(seed, failure);
            }
        }
    }

    /** Prints a failure in one piece. */
    private void reportFailure(long seed, Throwable failure) {
        if (totals.failed() > MAX_REPORTED_FAILURES) {
            return;
        }
        StringBuilder text = new StringBuilder("FAILED ");
        text.append(failure instanceof SimulationFailure ? failure.getMessage() : "seed " + seed + ": " + failure);
        text.append('\n');
        if (!trace && failure instanceof SimulationFailure known) {
            known.lastEvents().forEach(event -> text.append("  ").append(event).append('\n'));
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (!(cause instanceof SimulationFailure)) {
                text.append("  ").append(cause).append('\n');
                for (StackTraceElement frame : cause.getStackTrace()) {
                    text.append("    at ").append(frame).append('\n');
                }
            }
        }
        text.append("to reproduce: rdma4j sim --seed ").append(seed).append(" --trace\n");
        environment.err().print(text);
        environment.err().flush();
    }

    private void report(double seconds) {
        environment.out().println(totals.line(options));
        environment.err().printf(Locale.ROOT, "sim: %.1f s, %.0f runs/s%n", seconds, options.runs() / seconds);
        totals.report(environment.report());
        environment.report().result("elapsedSeconds", seconds);
    }

    /** Sums over all runs, independent of their order. */
    private static final class Totals {
        private long runs;
        private long hash;
        private long deliveredFrames;
        private long lostFrames;
        private long connections;
        private long completed;
        private long resolvedServices;
        private long silentPeers;
        private long socketDatagrams;
        private long virtualNanos;
        private final List<Long> failedSeeds = new ArrayList<>();

        synchronized void add(Cluster.Result result) {
            runs++;
            hash += result.traceHash();
            deliveredFrames += result.deliveredFrames();
            lostFrames += result.lostFrames();
            connections += result.connections();
            completed += result.completed();
            resolvedServices += result.resolvedServices();
            silentPeers += result.silentPeers();
            socketDatagrams += result.socketDatagrams();
            virtualNanos += result.virtualNanos();
        }

        synchronized void addFailure(long seed) {
            runs++;
            failedSeeds.add(seed);
        }

        synchronized long runs() {
            return runs;
        }

        synchronized int failed() {
            return failedSeeds.size();
        }

        synchronized String line(SimOptions options) {
            String seeds = options.runs() == 1
                    ? "seed " + options.firstSeed()
                    : "seeds " + options.firstSeed() + " to " + (options.firstSeed() + options.runs() - 1);
            return String.format(
                    Locale.ROOT,
                    "%s: trace hash %016x, %d of %d connections completed, %d frames delivered, %d lost, in %.3f s of"
                            + " virtual time: %s",
                    seeds,
                    hash,
                    completed,
                    connections,
                    deliveredFrames,
                    lostFrames,
                    virtualNanos / NANOS_PER_SECOND,
                    failedSeeds.isEmpty() ? "all runs match the model" : failedSeeds.size() + " FAILED");
        }

        synchronized void report(ToolReport report) {
            failedSeeds.sort(null);
            report.result("traceHash", String.format(Locale.ROOT, "%016x", hash))
                    .result("deliveredFrames", deliveredFrames)
                    .result("lostFrames", lostFrames)
                    .result("connections", connections)
                    .result("completedConnections", completed)
                    .result("resolvedServices", resolvedServices)
                    .result("silentPeers", silentPeers)
                    .result("socketDatagrams", socketDatagrams)
                    .result("virtualSeconds", virtualNanos / NANOS_PER_SECOND)
                    .result("failedSeeds", List.copyOf(failedSeeds));
        }
    }
}
