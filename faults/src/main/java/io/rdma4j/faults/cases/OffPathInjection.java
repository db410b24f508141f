package io.rdma4j.faults.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.hosts.Host;
import io.rdma4j.faults.hosts.TwoHosts;
import io.rdma4j.faults.process.Child;
import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
import io.rdma4j.faults.traffic.Injector;
import io.rdma4j.faults.traffic.TrafficSide;
import io.rdma4j.faults.traffic.WriteStream;
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
 * 13: two hosts write to each other, and a third one, that can send from any address and sees nothing of it, does what it
 * can to the right one ({@link Injector}). Nothing of that has an effect, but the right host says that somebody tries.
 *
 * <p>Goodput is that beside the mere cost of so many packets, which the machine has for the attacker, too: compared with the
 * same packets to a UDP port that nobody has, in turns of a second, so that both see the same machine.
 */
public final class OffPathInjection implements AcceptanceTest {
    private static final Duration STEP = Duration.ofSeconds(20);
    private static final int PACKETS_A_SECOND = 30_000;
    private static final Duration COMPILING = Duration.ofSeconds(2);

    private static final double ASKED_SHARE = 0.7;
    private static final long MOST_ALARM_MILLIS = 1000;
    private static final String ALARM = "possible attack on";

    /** Of the packets so many must have reached a queue pair for the test to say anything. */
    private static final double LEAST_SEEN = 0.5;

    @Override
    public int number() {
        return 13;
    }

    @Override
    public String title() {
        return "off-path injection";
    }

    @Override
    public String asked(Scale scale) {
        return "%d forged packets: 0 completions or errors, alarm in 1 s, goodput >= 70 %%".formatted(packets(scale));
    }

    private static int packets(Scale scale) {
        return scale.of(200_000, 1_000_000);
    }

    @Override
    public boolean needsRoot() {
        return true;
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.make());
        Host stranger = hosts.stranger(TwoHosts.LEFT, Injector.ELSEWHERE);
        Child left = end(stage, hosts.left(), "left", TwoHosts.LEFT, TwoHosts.RIGHT);
        Child right = end(stage, hosts.right(), "right", TwoHosts.RIGHT, TwoHosts.LEFT);
        int leftPort = left.await("port", STEP).asInt();
        left.tell(Integer.toString(right.await("port", STEP).asInt()));
        right.tell(Integer.toString(leftPort));
        JsonNode target = right.await("target", STEP);
        left.await("target", STEP);
        Thread.sleep(COMPILING);
        Child injector = injector(stage, stranger, target);
        injector.await("begun", STEP);
        Path log = stage.folder().resolve("right.err");
        long alarmMillis = -1;
        Pace alone = new Pace(left, right);
        Pace attacked = new Pace(left, right);
        int sent = 0;
        while (sent < packets(stage.scale())) {
            stage.progress(sent + " packets sent");
            alone.begin();
            injector.ask("past", "sent", STEP);
            alone.end();
            attacked.begin();
            long begin = System.nanoTime();
            injector.tell("go");
            Optional<JsonNode> said = Optional.empty();
            while (said.isEmpty()) {
                if (alarmMillis < 0 && Files.readString(log).contains(ALARM)) {
                    alarmMillis = (System.nanoTime() - begin) / 1_000_000 + (sent > 0 ? MOST_ALARM_MILLIS : 0);
                }
                said = injector.poll("sent", Duration.ofMillis(20));
            }
            attacked.end();
            sent = said.get().asInt();
        }
        double share = attacked.perSecond() / alone.perSecond();
        String wrong =
                state(left).get("wrong").asText() + state(right).get("wrong").asText();
        JsonNode end = state(right);
        double seen = end.get("dropped").asDouble() / sent;
        boolean isUntouched = wrong.isEmpty() && end.get("memory").asLong() != Injector.EVIL;
        return Outcome.of(
                isUntouched && seen >= LEAST_SEEN && alarmMillis >= 0,
                alarmMillis <= MOST_ALARM_MILLIS && share >= ASKED_SHARE,
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

    private static Child injector(TestStage stage, Host stranger, JsonNode target) throws IOException {
        Child.Builder builder =
                Child.builder(stage, "injector", Injector.class).on(stranger).with("perSecond", PACKETS_A_SECOND);
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

    /** What both ends write, and how long that takes. */
    private static final class Pace {
        private final Child left;
        private final Child right;
        private long writes;
        private long nanos;

        Pace(Child left, Child right) {
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

    /** Writes to its peer as fast as that takes it, and lets its peer write. */
    public static final class End implements Role {
        private static final int LENGTH = 8192;
        private static final int PLACES = 64;
        private static final int WRITES_AT_ONCE = 256;

        /** Behind all places, where no peer writes. */
        private static final long UNUSED_AT = (long) LENGTH * PLACES;

        private volatile long written;
        private volatile String wrong = "";

        @Override
        public void play(Parent parent) throws IOException, InterruptedException, ExecutionException {
            InetSocketAddress own = new InetSocketAddress(parent.text("address", ""), 0);
            TrafficSide.Listener listener = new TrafficSide.Listener(own, 1);
            parent.say("port", listener.port());
            InetSocketAddress peer = new InetSocketAddress(parent.text("peer", ""), Integer.parseInt(parent.hear()));
            FutureTask<TrafficSide> accepting =
                    new FutureTask<>(() -> listener.accept(TrafficSide.Shape.of(1, 1, UNUSED_AT + Long.BYTES)));
            Thread.ofPlatform().daemon().start(accepting);
            WriteStream stream = new WriteStream(own, peer, 14, LENGTH);
            TrafficSide served = accepting.get();
            Thread.ofPlatform().daemon().start(() -> write(stream));
            parent.say("target", target(served, stream.side()));
            while (parent.hear().equals("look")) {
                parent.say("state", state(served, stream.side()));
            }
        }

        private void write(WriteStream stream) {
            while (stream.write(WRITES_AT_ONCE)) {
                written = stream.completed();
            }
            wrong = stream.wrong();
        }

        /** All that an attacker could wish to know. */
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
                    + counters.getOrDefault("far_psn", 0L);
        }
    }
}
