package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.acceptance.traffic.PassiveTarget;
import io.rdma4j.acceptance.traffic.TrafficSide;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.HdrHistogram.Histogram;

/**
 * A client reads 64 bytes at a time from a server, first alone, then in addition to four flooding connections. These
 * come from another address and keep as many READs and WRITEs of 64 KiB outstanding as allowed. The small client must
 * keep its share.
 *
 * <p>The flooding process gets only the processor time that server and client leave. If all three shared two processors
 * evenly, a READ would sometimes wait for a scheduler time slice (3 ms) regardless of the traffic.
 */
public final class NoisyNeighbours implements AcceptanceTest.Body {
    private static final String FLOODING = "10.86.0.3";
    private static final double MAX_FACTOR = 5;
    private static final double MIN_SHARE = 0.15;

    /** Below this rate the machine was too busy to flood the server. */
    private static final double MIN_FLOOD_BYTES_PER_SECOND = 64 << 20;

    private static final Duration STEP = Duration.ofSeconds(20);

    @Override
    public String required(Scale scale) {
        return "64 B READs next to 4 flooding QPs for %d s: p99 at most 5 times, throughput at least 15 %% of alone"
                .formatted(seconds(scale));
    }

    private static int seconds(Scale scale) {
        return scale.of(8, 60);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        hosts.left().run("ip", "addr", "add", FLOODING + "/24", "dev", TwoHosts.CABLE);
        Child target = Child.builder(stage, "target", PassiveTarget.class)
                .on(hosts.right())
                .with("address", TwoHosts.RIGHT)
                .start();
        int port = target.await("port", STEP).asInt();
        Child victim = start(child(stage, hosts, "victim", Victim.class), TwoHosts.LEFT, port);
        Child flooder = start(child(stage, hosts, "flooder", Flooder.class), FLOODING, port);
        int seconds = seconds(stage.scale());
        Duration limit = STEP.plusSeconds(seconds);
        stage.progress("alone");
        JsonNode _ = victim.ask("measure 3", "measured", limit); // compiles the code
        JsonNode alone = victim.ask("measure " + Math.min(seconds, 20), "measured", limit);
        stage.progress("with neighbours");
        JsonNode _ = flooder.ask("flood", "flooding", STEP);
        schedule(hosts, flooder, "--idle");
        JsonNode _ = victim.ask("measure 2", "measured", limit);
        JsonNode underLoad = victim.ask("measure " + seconds, "measured", limit);
        schedule(hosts, flooder, "--other");
        JsonNode flooded = flooder.ask("stop", "flooded", STEP);
        double factor =
                underLoad.get("p99Nanos").asDouble() / alone.get("p99Nanos").asDouble();
        double share =
                underLoad.get("perSecond").asDouble() / alone.get("perSecond").asDouble();
        double flood = flooded.get("bytesPerSecond").asDouble();
        return Outcome.of(
                true,
                factor <= MAX_FACTOR && share >= MIN_SHARE && flood >= MIN_FLOOD_BYTES_PER_SECOND,
                "p99 %.0f us instead of %.0f, %.1f times; %.0f/s instead of %.0f, %.0f %%; neighbours %.0f MiB/s"
                        .formatted(
                                underLoad.get("p99Nanos").asDouble() / 1000,
                                alone.get("p99Nanos").asDouble() / 1000,
                                factor,
                                underLoad.get("perSecond").asDouble(),
                                alone.get("perSecond").asDouble(),
                                100 * share,
                                flood / (1 << 20)));
    }

    private static void schedule(TwoHosts hosts, Child child, String policy) throws IOException, InterruptedException {
        String _ = hosts.left().run("chrt", "--all-tasks", policy, "--pid", "0", Long.toString(child.pid()));
    }

    private static Child.Builder child(TestStage stage, TwoHosts hosts, String name, Class<? extends Role> role) {
        return Child.builder(stage, name, role).on(hosts.left());
    }

    private static Child start(Child.Builder builder, String from, int port) throws IOException, InterruptedException {
        Child child = builder.with("from", from).with("port", port).start();
        child.await("ready", STEP);
        return child;
    }

    private static TrafficSide connect(Parent parent, int sends, long regionBytes) {
        return TrafficSide.connect(
                new InetSocketAddress(parent.text("from", TwoHosts.LEFT), 0),
                new InetSocketAddress(TwoHosts.RIGHT, (int) parent.number("port", 0)),
                TrafficSide.Shape.of(sends, 1, regionBytes));
    }

    /** Reads repeatedly and reports latency and rate. */
    public static final class Victim implements Role {
        private static final int BYTES = 64;

        /** Latencies of up to an hour in nanoseconds; percentiles are exact within 1 in 1000. */
        private final Histogram nanos = new Histogram(TimeUnit.HOURS.toNanos(1), 3);

        @Override
        public void run(Parent parent) throws IOException {
            try (TrafficSide side = connect(parent, 1, 4096)) {
                parent.report("ready", 1);
                for (String line = parent.nextCommand(); !line.equals("end"); line = parent.nextCommand()) {
                    parent.report("measured", measure(side, Integer.parseInt(line.split(" ", -1)[1])));
                }
            }
        }

        private Map<String, Object> measure(TrafficSide side, int seconds) {
            SendWorkRequest request = new SendWorkRequest();
            WorkCompletion[] one = WorkCompletion.array(1);
            long begin = System.nanoTime();
            long end = begin + TimeUnit.SECONDS.toNanos(seconds);
            nanos.reset();
            long count = 0;
            for (long now = begin; now < end; count++) {
                side.queuePair()
                        .postSend(request.reset(count)
                                .from(side.region(), 0, BYTES)
                                .read(side.remoteAddress(), side.remoteKey())
                                .signaled());
                if (side.await(one, STEP) == 0 || !one[0].isSuccess()) {
                    throw new IllegalStateException("READ " + count + ": " + one[0]);
                }
                long done = System.nanoTime();
                nanos.recordValue(done - now);
                now = done;
            }
            long took = System.nanoTime() - begin;
            Map<String, Object> measured = new LinkedHashMap<>();
            measured.put("p99Nanos", nanos.getValueAtPercentile(99));
            measured.put("perSecond", count * 1e9 / took);
            return measured;
        }
    }

    /** Keeps as many requests outstanding as allowed on four connections, two with READs and two with WRITEs. */
    public static final class Flooder implements Role {
        private static final int CONNECTIONS = 4;
        private static final int OUTSTANDING = 16;
        private static final int BYTES = 65536;

        private final AtomicLong transferred = new AtomicLong();
        private volatile boolean stopping;

        @Override
        public void run(Parent parent) throws IOException {
            List<TrafficSide> sides = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                sides.add(connect(parent, OUTSTANDING, (long) OUTSTANDING * BYTES));
            }
            parent.report("ready", 1);
            String _ = parent.nextCommand();
            for (int i = 0; i < CONNECTIONS; i++) {
                TrafficSide side = sides.get(i);
                boolean reads = i % 2 == 0;
                Thread.ofPlatform().daemon().start(() -> flood(side, reads));
            }
            long begin = System.nanoTime();
            parent.report("flooding", 1);
            String _ = parent.nextCommand();
            parent.report("flooded", Map.of("bytesPerSecond", transferred.get() * 1e9 / (System.nanoTime() - begin)));
            stopping = true;
        }

        private void flood(TrafficSide side, boolean reads) {
            SendWorkRequest request = new SendWorkRequest();
            WorkCompletion[] batch = WorkCompletion.array(OUTSTANDING);
            long posted = 0;
            long completed = 0;
            while (!stopping) {
                while (posted - completed < OUTSTANDING) {
                    long at = posted % OUTSTANDING * BYTES;
                    request.reset(posted++).from(side.region(), at, BYTES).signaled();
                    long remoteAddress = side.remoteAddress() + at % side.remoteBytes();
                    side.queuePair()
                            .postSend(
                                    reads
                                            ? request.read(remoteAddress, side.remoteKey())
                                            : request.write(remoteAddress, side.remoteKey()));
                }
                int count = side.await(batch, STEP);
                for (int i = 0; i < count; i++) {
                    if (!batch[i].isSuccess()) {
                        throw new IllegalStateException("the flood failed: " + batch[i]);
                    }
                    transferred.addAndGet(BYTES);
                }
                completed += count;
            }
        }
    }
}
