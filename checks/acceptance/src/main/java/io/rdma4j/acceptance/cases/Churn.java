package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.ResourceUsage;
import io.rdma4j.acceptance.traffic.Connecting;
import java.time.Duration;

/**
 * Four threads connect, write once and disconnect repeatedly; either side closes first. No connection fails, and no
 * resources are left.
 */
public final class Churn implements AcceptanceTest.Body {
    private static final int THREADS = 4;
    private static final int MIN_PER_SECOND = 50;
    private static final long MAX_BYTES = 1 << 20;
    private static final Duration LIMIT = Duration.ofMinutes(15);
    /** Time-wait and a margin. */
    private static final Duration SETTLE = Duration.ofSeconds(5);

    @Override
    public String required(Scale scale) {
        return cycles(scale)
                + " connections by 4 threads, closed by either side: none fails, 50 a second, no descriptor, no thread"
                + " and at most 1 MiB left, no queue pair number repeated";
    }

    private static int cycles(Scale scale) {
        return scale.of(500, 10_000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Connecting pair = Connecting.begin(stage, hosts, true);
        stage.progress("until code is compiled and the state of ended connections has its final size");
        JsonNode _ = pair.connect(stage.scale().of(200, 5000), THREADS, LIMIT);
        Thread.sleep(SETTLE);
        ResourceUsage targetBefore = pair.target().resourceUsage();
        ResourceUsage connectorBefore = pair.connector().resourceUsage();
        stage.progress("churn");
        long begin = System.nanoTime();
        JsonNode done = pair.connect(cycles(stage.scale()), THREADS, LIMIT);
        double perSecond = cycles(stage.scale()) / ((System.nanoTime() - begin) / 1e9);
        Thread.sleep(SETTLE);
        ResourceUsage targetGrowth = pair.target().resourceUsage().since(targetBefore);
        ResourceUsage connectorGrowth = pair.connector().resourceUsage().since(connectorBefore);
        int openConnections = pair.openConnections();
        int repeated = done.get("repeatedNumbers").asInt();
        return Outcome.of(
                targetGrowth.isWithin(MAX_BYTES)
                        && connectorGrowth.isWithin(MAX_BYTES)
                        && openConnections == 0
                        && repeated == 0,
                perSecond >= MIN_PER_SECOND,
                "none failed, %.0f a second; passive %s, active %s; %d connections left, %d numbers repeated"
                        .formatted(perSecond, targetGrowth, connectorGrowth, openConnections, repeated));
    }
}
