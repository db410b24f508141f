package io.rdma4j.faults.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.Stage;
import io.rdma4j.faults.hosts.TwoHosts;
import io.rdma4j.faults.process.Child;
import io.rdma4j.faults.traffic.Connector;
import io.rdma4j.faults.traffic.Target;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/** Connecting, one write and back, disconnecting, over and over by four threads: nothing fails, and nothing is left. */
public final class Churn implements AcceptanceTest {
    private static final int THREADS = 4;
    private static final int LEAST_PER_SECOND = 50;
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
    public String asked(Scale scale) {
        return "%d connections by 4 threads: none fails, 50 a second, no descriptor or thread left, no queue pair number twice"
                .formatted(cycles(scale));
    }

    private static int cycles(Scale scale) {
        return scale.of(500, 10_000);
    }

    @Override
    public boolean needsRoot() {
        return true;
    }

    @Override
    public Outcome run(Stage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.make());
        Child target = Child.builder(stage, "target", Target.class)
                .on(hosts.right())
                .with("address", TwoHosts.RIGHT)
                .with("bytes", 4096)
                .with("backlog", 64)
                .start();
        Child connector = Child.builder(stage, "connector", Connector.class)
                .on(hosts.left())
                .with("from", TwoHosts.LEFT)
                .with("to", TwoHosts.RIGHT)
                .with("port", target.await("port", LIMIT).asInt())
                .start();
        connector.await("ready", LIMIT);
        stage.progress("until Java has compiled it");
        JsonNode _ = churn(connector, 200);
        Thread.sleep(SETTLE);
        Left targetBefore = Left.of(target);
        Left connectorBefore = Left.of(connector);
        stage.progress("churn");
        long begin = System.nanoTime();
        JsonNode done = churn(connector, cycles(stage.scale()));
        double perSecond = cycles(stage.scale()) / ((System.nanoTime() - begin) / 1e9);
        Thread.sleep(SETTLE);
        Left targetAfter = Left.of(target);
        Left connectorAfter = Left.of(connector);
        int living = target.ask("count", "count", LIMIT).get(1).asInt();
        int repeated = done.get("repeatedNumbers").asInt();
        return Outcome.of(
                perSecond >= LEAST_PER_SECOND
                        && targetAfter.isNoMoreThan(targetBefore)
                        && connectorAfter.isNoMoreThan(connectorBefore)
                        && living == 0
                        && repeated == 0,
                "none failed, %.0f a second; passive %s, active %s; %d connections left, %d numbers twice"
                        .formatted(
                                perSecond,
                                targetAfter.since(targetBefore),
                                connectorAfter.since(connectorBefore),
                                living,
                                repeated));
    }

    private static JsonNode churn(Child connector, int count) throws IOException, InterruptedException {
        JsonNode done = connector.ask("connect " + count + " " + THREADS, "done", LIMIT);
        if (!done.get("wrong").isEmpty()) {
            throw new IOException(done.get("wrong").size() + " of " + count + " failed: "
                    + done.get("wrong").get(0).asText());
        }
        return done;
    }

    /** What a process holds, as the system sees it. */
    private record Left(long descriptors, long threads) {
        static Left of(Child child) throws IOException {
            Path process = Path.of("/proc", Long.toString(child.pid()));
            return new Left(count(process.resolve("fd")), count(process.resolve("task")));
        }

        private static long count(Path folder) throws IOException {
            try (Stream<Path> entries = Files.list(folder)) {
                return entries.count();
            }
        }

        /** Threads of Java's compilers come and go. */
        boolean isNoMoreThan(Left before) {
            return descriptors <= before.descriptors && threads <= before.threads + 2;
        }

        String since(Left before) {
            return "%+d descriptors, %+d threads".formatted(descriptors - before.descriptors, threads - before.threads);
        }
    }
}
