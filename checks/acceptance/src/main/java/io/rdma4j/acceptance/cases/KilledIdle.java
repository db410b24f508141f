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
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The peer of an idle connection is killed, or its host loses its cable. A side with {@link QueuePair#setKeepAlive} is
 * notified in time: its receive is flushed and an event is reported. A side without it is not notified, as the
 * specification requires, unless another process shares the address of the killed one and disconnects on its behalf.
 * While the peer runs, probes have no visible effect.
 */
public final class KilledIdle implements AcceptanceTest.Body {
    private static final int INTERVAL_MILLIS = 2000;
    /** The interval, 8 times at most 4 times 67 ms, and a margin. */
    private static final long MAX_MILLIS = INTERVAL_MILLIS + 2400;

    private static final long MAX_MILLIS_TO_DISCONNECT = 1000;

    private static final int MIN_PROBES = 2;
    private static final Duration STEP = Duration.ofSeconds(20);

    /** The way in which the peer fails. */
    private enum Failure {
        KILLED,
        KILLED_ON_SHARED_ADDRESS,
        CABLE_DOWN
    }

    @Override
    public String required(Scale scale) {
        return "keepalive 2 s: peer killed or its cable down, error in 4.4 s; off: none in 6 s, but DISCONNECTED in 1 s if another process shares the address; %d times"
                .formatted(rounds(scale));
    }

    private static int rounds(Scale scale) {
        return scale.of(1, 10);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Measured extremes = new Measured(0, 0, Long.MAX_VALUE);
        for (int round = 0; round < rounds(stage.scale()); round++) {
            for (Failure failure : Failure.values()) {
                stage.progress("round " + (round + 1) + ", " + failure);
                extremes = extremes.with(once(stage, hosts, failure));
            }
        }
        return Outcome.of(
                extremes.probes >= MIN_PROBES,
                extremes.millis <= MAX_MILLIS && extremes.disconnectMillis <= MAX_MILLIS_TO_DISCONNECT,
                "notified within %.2f s, %d probes before; off: not notified, with a shared address in %.2f s"
                        .formatted(extremes.millis / 1000.0, extremes.probes, extremes.disconnectMillis / 1000.0));
    }

    /** Times until the sides with and without keep-alive were notified, and the number of probes before. */
    private record Measured(long millis, long disconnectMillis, long probes) {
        Measured with(Measured other) {
            return new Measured(
                    Math.max(millis, other.millis),
                    Math.max(disconnectMillis, other.disconnectMillis),
                    Math.min(probes, other.probes));
        }
    }

    private static Measured once(TestStage stage, TwoHosts hosts, Failure failure) throws Exception {
        @Nullable
        Child companion = failure == Failure.KILLED_ON_SHARED_ADDRESS ? target(stage, hosts, "companion") : null;
        Child target = target(stage, hosts, "target");
        int port = target.await("port", STEP).asInt();
        Child probing = start(stage, hosts, "careful", port, INTERVAL_MILLIS);
        Child notProbing = start(stage, hosts, "careless", port, 0);
        Thread.sleep(3L * INTERVAL_MILLIS);
        JsonNode before = probing.ask("look", "state", STEP);
        require(before.get("outcome").asText().isEmpty(), "while the peer runs: " + before);
        long begin = System.nanoTime();
        if (failure == Failure.CABLE_DOWN) {
            hosts.cable(hosts.right(), false);
        } else {
            target.kill();
        }
        long disconnected = 0;
        if (companion != null) {
            JsonNode _ = notProbing.await("disconnected", STEP);
            disconnected = (System.nanoTime() - begin) / 1_000_000;
        }
        String outcome = probing.await("ended", STEP).asText();
        long millis = (System.nanoTime() - begin) / 1_000_000;
        require(outcome.equals("WORK_REQUEST_FLUSHED_ERROR QUEUE_PAIR_FATAL"), failure + ": " + outcome);
        Thread.sleep(Math.max(0, 6000 - (System.nanoTime() - begin) / 1_000_000));
        JsonNode notProbingState = notProbing.ask("look", "state", STEP);
        require(notProbingState.get("outcome").asText().isEmpty(), failure + ", without keepalive: " + notProbingState);
        require(
                notProbingState.get("disconnected").asBoolean() == (companion != null),
                failure + ", without keepalive: " + notProbingState);
        target.kill();
        probing.kill();
        notProbing.kill();
        if (companion != null) {
            companion.kill();
        }
        hosts.cable(hosts.right(), true);
        return new Measured(millis, disconnected, before.get("probes").asLong());
    }

    private static void require(boolean condition, String message) throws IOException {
        if (!condition) {
            throw new IOException(message);
        }
    }

    private static Child target(TestStage stage, TwoHosts hosts, String name) throws IOException {
        return Child.builder(stage, name, PassiveTarget.class)
                .on(hosts.right())
                .with("address", TwoHosts.RIGHT)
                .start();
    }

    private static Child start(TestStage stage, TwoHosts hosts, String name, int port, int keepAliveMillis)
            throws Exception {
        Child child = Child.builder(stage, name, Idle.class)
                .on(hosts.left())
                .with("port", port)
                .with("keepAliveMillis", keepAliveMillis)
                .start();
        child.await("ready", STEP);
        return child;
    }

    /** Connects, posts a receive, and waits for its completion. */
    public static final class Idle implements Role {
        private volatile String outcome = "";
        private volatile boolean disconnected;

        @Override
        public void run(Parent parent) throws Exception {
            TrafficSide side = TrafficSide.connect(
                    new InetSocketAddress(TwoHosts.LEFT, 0),
                    new InetSocketAddress(TwoHosts.RIGHT, (int) parent.number("port", 0)),
                    TrafficSide.Shape.of(4, 4, 4096),
                    newSide -> newSide.postReceive(1, 0, 64));
            side.queuePair().setKeepAlive(Duration.ofMillis(parent.number("keepAliveMillis", 0)));
            EventChannel events = side.events();
            Thread.ofPlatform().daemon().start(() -> watch(side, parent));
            Thread.ofPlatform().daemon().start(() -> listen(events, parent));
            parent.report("ready", 1);
            for (String command = parent.nextCommand(); !command.equals("end"); command = parent.nextCommand()) {
                Map<String, Object> state = new LinkedHashMap<>();
                state.put("outcome", outcome);
                state.put("disconnected", disconnected);
                state.put("probes", side.queuePair().counters().getOrDefault("idle_probes", -1L));
                parent.report("state", state);
            }
        }

        private void listen(EventChannel events, Parent parent) {
            while (!disconnected) {
                try (CmEvent event = events.await()) {
                    disconnected = event.type() == CmEvent.Type.DISCONNECTED;
                }
            }
            parent.report("disconnected", 1);
        }

        private void watch(TrafficSide side, Parent parent) {
            WorkCompletion[] one = WorkCompletion.array(1);
            int count = side.await(one, Duration.ofMinutes(2));
            CompletionStatus status = count == 0 ? CompletionStatus.SUCCESS : one[0].status();
            @Nullable AsyncEvent event = side.id().verbs().awaitAsyncEvent(Duration.ofSeconds(2));
            while (event != null && !(event.source() instanceof QueuePair)) {
                event = side.id().verbs().awaitAsyncEvent(Duration.ofSeconds(2));
            }
            outcome = status + " " + (event == null ? "no event" : event.type().name());
            parent.report("ended", outcome);
        }
    }
}
