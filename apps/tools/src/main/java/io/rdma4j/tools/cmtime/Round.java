package io.rdma4j.tools.cmtime;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** One test of a run: a number of connections that are opened and closed. Thread safe. */
final class Round {
    final Stopwatch<Step> all = new Stopwatch<>(Step.class);
    final List<TimedConnection> connections;
    private final AtomicInteger requested = new AtomicInteger();
    private final AtomicInteger established = new AtomicInteger();
    private final AtomicInteger disconnected = new AtomicInteger();

    /** Creates a test with connections. */
    Round(List<TimedConnection> connections) {
        this.connections = List.copyOf(connections);
    }

    /** Creates a server's test with {@code count} connections. */
    static Round ofServer(int count) {
        List<TimedConnection> connections = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            connections.add(new TimedConnection(null));
        }
        return new Round(connections);
    }

    int count() {
        return connections.size();
    }

    /** Returns the connection for the next request, or null if all are in use. */
    @Nullable
    TimedConnection nextRequested() {
        int index = requested.getAndIncrement();
        return index < connections.size() ? connections.get(index) : null;
    }

    /** Returns whether no request has been received. */
    boolean hasNoRequests() {
        return requested.get() == 0;
    }

    /** Counts an established connection. */
    void onEstablished() {
        if (established.incrementAndGet() == count()) {
            all.end(Step.CONNECT);
        }
    }

    /** Counts a disconnection by the peer, and returns whether it was the first. */
    boolean isFirstDisconnected() {
        return disconnected.getAndIncrement() == 0;
    }

    private List<Stopwatch<Step>> each() {
        return connections.stream().map(connection -> connection.times).toList();
    }

    private StepFigures figures(Step step) {
        StepFigures figures = StepFigures.of(step, all, each());
        return step == Step.FULL_CONNECT ? figures.withoutSum() : figures;
    }

    /** Returns the lines of the results. */
    List<String> table(boolean queuePairs, int threads) {
        List<String> lines = new ArrayList<>();
        lines.add(String.format(Locale.ROOT, "%s        %10d", queuePairs ? "qp_conn" : "cm_conn", count()));
        lines.add(String.format(Locale.ROOT, "threads        %10d", threads));
        lines.add("step             avg/conn  total(us)    us/conn    sum(us)    max(us)    min(us)");
        for (Step step : Step.values()) {
            lines.add(figures(step).line(step.text()));
        }
        return lines;
    }

    /** Returns the results for the JSON document. */
    Map<String, @Nullable Object> report(String test, int threads) {
        Map<String, @Nullable Object> report = new LinkedHashMap<>();
        report.put("test", test);
        report.put("connections", count());
        report.put("threads", threads);
        List<@Nullable Object> steps = new ArrayList<>();
        for (Step step : Step.values()) {
            steps.add(figures(step).report(step.text()));
        }
        report.put("steps", steps);
        return report;
    }
}
