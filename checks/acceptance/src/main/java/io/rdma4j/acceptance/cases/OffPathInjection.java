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
import io.rdma4j.acceptance.traffic.Injector;
import io.rdma4j.acceptance.traffic.TrafficSide;
import io.rdma4j.acceptance.traffic.WriteStream;
import io.rdma4j.harness.Host;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/**
 * An attack on two hosts that write to each other, by a third host that sees no traffic ({@link Injector}). It can send
 * to the right host from any address. The attack has no effect, but the right host reports it.
 *
 * <p>Goodput is measured relative to the cost of the attacker's packets themselves, which share the machine. The same
 * packets are alternately sent to an unused UDP port, in intervals of one second.
 */
public final class OffPathInjection implements AcceptanceTest.Body {
    private static final Duration STEP = Duration.ofSeconds(20);
    private static final int PACKETS_PER_SECOND = 30_000;
    private static final Duration WARM_UP = Duration.ofSeconds(2);

    private static final double REQUIRED_SHARE = 0.7;
    private static final long MAX_ALARM_MILLIS = 1000;
    private static final String ALARM = "possible attack on";

    /** Minimum share of the packets that must reach a queue pair for a meaningful test. */
    private static final double MIN_SEEN = 0.5;

    @Override
    public String required(Scale scale) {
        return "%d forged packets: 0 completions or errors, alarm in 1 s, goodput at least 70 %%"
                .formatted(packets(scale));
    }

    private static int packets(Scale scale) {
        return scale.of(200_000, 1_000_000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Host thirdHost = hosts.thirdHost(TwoHosts.LEFT, Injector.ELSEWHERE);
        Child left = end(stage, hosts.left(), "left", TwoHosts.LEFT, TwoHosts.RIGHT);
        Child right = end(stage, hosts.right(), "right", TwoHosts.RIGHT, TwoHosts.LEFT);
        int leftPort = left.await("port", STEP).asInt();
        left.sendLine(Integer.toString(right.await("port", STEP).asInt()));
        right.sendLine(Integer.toString(leftPort));
        JsonNode target = right.await("target", STEP);
        left.await("target", STEP);
        Thread.sleep(WARM_UP);
        Child injector = injector(stage, thirdHost, target);
        injector.await("begun", STEP);
        Path log = stage.folder().resolve("right.err");
        long alarmMillis = -1;
        Rate alone = new Rate(left, right);
        Rate attacked = new Rate(left, right);
        int sent = 0;
        while (sent < packets(stage.scale())) {
            stage.progress(sent + " packets sent");
            alone.begin();
            injector.ask("past", "sent", STEP);
            alone.end();
            attacked.begin();
            long begin = System.nanoTime();
            injector.sendLine("go");
            Optional<JsonNode> report = Optional.empty();
            while (report.isEmpty()) {
                if (alarmMillis < 0 && Files.readString(log).contains(ALARM)) {
                    alarmMillis = (System.nanoTime() - begin) / 1_000_000 + (sent > 0 ? MAX_ALARM_MILLIS : 0);
                }
                report = injector.poll("sent", Duration.ofMillis(20));
            }
            attacked.end();
            sent = report.get().asInt();
        }
        double share = attacked.perSecond() / alone.perSecond();
        String wrong =
                state(left).get("wrong").asText() + state(right).get("wrong").asText();
        JsonNode end = state(right);
        double seen = end.get("dropped").asDouble() / sent;
        boolean isUntouched = wrong.isEmpty() && end.get("memory").asLong() != Injector.INJECTED;
        return Outcome.of(
                isUntouched && seen >= MIN_SEEN && alarmMillis >= 0,
                alarmMillis <= MAX_ALARM_MILLIS && share >= REQUIRED_SHARE,
                "%s, alarm after %d ms, goodput %.0f %%, %.0f %% of %d packets reached a queue pair (%.0f a second)"
                        .formatted(
                                isUntouched ? "0 completions or errors" : "wrong: " + wrong,
                                alarmMillis,
                                100 * share,
                                100 * seen,
                                sent,
                                sent * 1e9 / attacked.nanos));
    }

    private static Child end(TestStage stage, Host host, String name, String address, String peer) throws IOException {
        return Child.builder(stage, name, End.class)
                .on(host)
                .with("address", address)
                .with("peer", peer)
                .start();
    }

    private static Child injector(TestStage stage, Host thirdHost, JsonNode target) throws IOException {
        Child.Builder builder =
                Child.builder(stage, "injector", Injector.class).on(thirdHost).with("perSecond", PACKETS_PER_SECOND);
        target.properties().forEach(known -> {
            Child.Builder _ = builder.with(known.getKey(), known.getValue().asLong());
        });
        return builder.start();
    }

    private static JsonNode state(Child end) throws IOException, InterruptedException {
        return end.ask("look", "state", STEP);
    }

    private static long written(Child left, Child right) throws IOException, InterruptedException {
        return state(left).get("written").asLong() + state(right).get("written").asLong();
    }

    /** The WRITEs of both sides and the time that they took. */
    private static final class Rate {
        private final Child left;
        private final Child right;
        private long writes;
        private long nanos;

        Rate(Child left, Child right) {
            this.left = left;
            this.right = right;
        }

        void begin() throws IOException, InterruptedException {
            writes -= written(left, right);
            nanos -= System.nanoTime();
        }

        void end() throws IOException, InterruptedException {
            writes += written(left, right);
            nanos += System.nanoTime();
        }

        double perSecond() {
            return writes * 1e9 / nanos;
        }
    }

    /** Writes to its peer as fast as possible, while its peer writes to it. */
    public static final class End implements Role {
        private static final int LENGTH = 8192;
        private static final int SLOTS = 64;
        private static final int WRITES_AT_ONCE = 256;

        /** After all slots, where no peer writes. */
        private static final long UNUSED_AT = (long) LENGTH * SLOTS;

        private volatile long written;
        private volatile String wrong = "";

        @Override
        public void run(Parent parent) throws IOException, InterruptedException, ExecutionException {
            InetSocketAddress local = new InetSocketAddress(parent.text("address", ""), 0);
            TrafficSide.Listener listener = new TrafficSide.Listener(local, 1);
            parent.report("port", listener.port());
            InetSocketAddress peer =
                    new InetSocketAddress(parent.text("peer", ""), Integer.parseInt(parent.nextCommand()));
            FutureTask<TrafficSide> accepting =
                    new FutureTask<>(() -> listener.accept(TrafficSide.Shape.of(1, 1, UNUSED_AT + Long.BYTES)));
            Thread.ofPlatform().daemon().start(accepting);
            WriteStream stream = new WriteStream(local, peer, 14, LENGTH);
            TrafficSide served = accepting.get();
            Thread.ofPlatform().daemon().start(() -> write(stream));
            parent.report("target", target(served, stream.side()));
            while (parent.nextCommand().equals("look")) {
                parent.report("state", state(served, stream.side()));
            }
        }

        private void write(WriteStream stream) {
            while (stream.write(WRITES_AT_ONCE)) {
                written = stream.completed();
            }
            wrong = stream.wrong();
        }

        /** Returns everything that an attacker needs to know. */
        private static Map<String, Long> target(TrafficSide served, TrafficSide writing) {
            return Map.of(
                    "served", (long) served.queuePair().number(),
                    "servedPsn", (long) served.queuePair().query().receivePsn(),
                    "address", served.region().address() + UNUSED_AT,
                    "key", (long) served.region().remoteKey(),
                    "writing", (long) writing.queuePair().number(),
                    "writingPsn", (long) writing.queuePair().query().sendPsn());
        }

        private Map<String, Object> state(TrafficSide served, TrafficSide writing) {
            Map<String, Object> state = new LinkedHashMap<>();
            String end = served.hasEnded() || writing.hasEnded() ? "disconnected" : "";
            state.put("wrong", wrong + end);
            state.put("written", written);
            state.put("memory", served.region().memory().get(ValueLayout.JAVA_LONG, UNUSED_AT));
            state.put("dropped", dropped(served) + dropped(writing));
            return state;
        }

        private static long dropped(TrafficSide side) {
            Map<String, Long> counters = side.queuePair().counters();
            return counters.getOrDefault("bad_source", 0L)
                    + counters.getOrDefault("bad_source_port", 0L)
                    + counters.getOrDefault("out_of_window_psns", 0L);
        }
    }
}
