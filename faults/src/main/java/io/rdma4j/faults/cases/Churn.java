package io.rdma4j.faults.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.hosts.TwoHosts;
import io.rdma4j.faults.process.ResourceUsage;
import io.rdma4j.faults.traffic.Connecting;
import java.time.Duration;

/**
 * Connecting, one write and back, disconnecting by the one side or the other, over and over by four threads: nothing fails,
 * and nothing is left.
 */
public final class Churn implements AcceptanceTest {
    private static final int THREADS = 4;
    private static final int LEAST_PER_SECOND = 50;
    private static final long MOST_BYTES = 1 << 20;
    private static final Duration LIMIT = Duration.ofMinutes(15);
    /** Time-wait, and a little. */
    private static final Duration SETTLE = Duration.ofSeconds(5);

    @Override
    public int number() {
        return 22;
    }

    @Override
    public String title() {
        return "churn";
    }

    @Override
    public String required(Scale scale) {
        return cycles(scale)
                + " connections by 4 threads, either side closes: none fails, 50 a second, no descriptor, no thread"
                + " and at most 1 MiB left, no queue pair number twice";
    }

    private static int cycles(Scale scale) {
        return scale.of(500, 10_000);
    }

    @Override
    public boolean needsRoot() {
        return true;
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Connecting churn = Connecting.begin(stage, hosts, true);
        stage.progress("until Java has compiled it, and what is kept of ended connections has its size");
        JsonNode _ = churn.connect(stage.scale().of(200, 5000), THREADS, LIMIT);
        Thread.sleep(SETTLE);
        ResourceUsage targetBefore = churn.target().resourceUsage();
        ResourceUsage connectorBefore = churn.connector().resourceUsage();
        stage.progress("churn");
        long begin = System.nanoTime();
        JsonNode done = churn.connect(cycles(stage.scale()), THREADS, LIMIT);
        double perSecond = cycles(stage.scale()) / ((System.nanoTime() - begin) / 1e9);
        Thread.sleep(SETTLE);
        ResourceUsage targetMore = churn.target().resourceUsage().since(targetBefore);
        ResourceUsage connectorMore = churn.connector().resourceUsage().since(connectorBefore);
        int openConnections = churn.openConnections();
        int repeated = done.get("repeatedNumbers").asInt();
        return Outcome.of(
                targetMore.isWithin(MOST_BYTES)
                        && connectorMore.isWithin(MOST_BYTES)
                        && openConnections == 0
                        && repeated == 0,
                perSecond >= LEAST_PER_SECOND,
                "none failed, %.0f a second; passive %s, active %s; %d connections left, %d numbers twice"
                        .formatted(perSecond, targetMore, connectorMore, openConnections, repeated));
    }
}
