package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.Damage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.acceptance.traffic.PassiveTarget;
import io.rdma4j.acceptance.traffic.TrafficSide;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.WorkCompletion;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * All packets of one path are dropped during a stream of WRITEs. The first request fails with RETRY_EXC in time, all
 * others are flushed once and in order, and a queue pair to another peer is unaffected.
 */
public final class DeadPath implements AcceptanceTest.Body {
    private static final Duration STEP = Duration.ofSeconds(20);
    /**
     * 8 transmissions with a timeout of at least 67.1 ms. The measurement starts before the application polls the last
     * success.
     */
    private static final long MIN_MILLIS = 537 - 20;
    /** 8 times at most four times that timeout, and a margin. */
    private static final long MAX_MILLIS = 2400;

    @Override
    public String required(Scale scale) {
        return "RETRY_EXC in 0.54 to 2.4 s, the rest flushed in order, a second queue pair untouched; "
                + scale.of(2, 20) + " times";
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Child dead = Child.builder(stage, "dead", PassiveTarget.class)
                .on(hosts.right())
                .with("address", TwoHosts.RIGHT)
                .start();
        Child live = Child.builder(stage, "live", PassiveTarget.class)
                .on(hosts.left())
                .with("address", "127.0.0.1")
                .start();
        int deadPort = dead.await("port", STEP).asInt();
        int livePort = live.await("port", STEP).asInt();
        long min = Long.MAX_VALUE;
        long max = 0;
        int rounds = stage.scale().of(2, 20);
        for (int round = 0; round < rounds; round++) {
            stage.progress("round " + (round + 1) + " of " + rounds);
            hosts.heal();
            Child writer = Child.builder(stage, "writer-" + round, Writer.class)
                    .on(hosts.left())
                    .with("deadPort", deadPort)
                    .with("livePort", livePort)
                    .start();
            writer.await("streaming", STEP);
            Thread.sleep(200);
            hosts.damage(Damage.ALL_LOST);
            JsonNode result = writer.await("result", STEP);
            writer.kill();
            if (!result.get("wrong").asText().isEmpty()) {
                return Outcome.failed(result.get("wrong").asText());
            }
            min = Math.min(min, result.get("millis").asLong());
            max = Math.max(max, result.get("millis").asLong());
        }
        return Outcome.of(
                min >= MIN_MILLIS,
                max <= MAX_MILLIS,
                "RETRY_EXC after %.2f to %.2f s, all flushed in order, second untouched"
                        .formatted(min / 1000.0, max / 1000.0));
    }

    /** Streams WRITEs to both peers until those to the first fail. */
    public static final class Writer implements Role {
        private static final int SENDS = 64;
        private static final int MESSAGE_BYTES = 65536;

        private final WorkCompletion[] batch = WorkCompletion.array(SENDS);

        @Override
        public void run(Parent parent) {
            TrafficSide.Shape shape = TrafficSide.Shape.of(SENDS, 1, 1 << 20);
            InetSocketAddress source = new InetSocketAddress(TwoHosts.LEFT, 0);
            TrafficSide dead = TrafficSide.connect(
                    source, new InetSocketAddress(TwoHosts.RIGHT, (int) parent.number("deadPort", 0)), shape);
            TrafficSide live = TrafficSide.connect(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), (int) parent.number("livePort", 0)),
                    shape);
            parent.report("streaming", 1);
            long posted = 0;
            long completed = 0;
            long polledNanos = System.nanoTime();
            long lastSuccessNanos = polledNanos;
            long millis = 0;
            StringBuilder wrong = new StringBuilder();
            while (completed < posted || millis == 0) {
                while (millis == 0 && posted - completed < SENDS) {
                    post(dead, posted++);
                }
                // Completions found now were reported since the previous poll, which may be long ago on a busy machine.
                long previousPollNanos = polledNanos;
                polledNanos = System.nanoTime();
                int count = dead.completions().poll(batch);
                for (int i = 0; i < count; i++) {
                    CompletionStatus status = batch[i].status();
                    if (status == CompletionStatus.SUCCESS && millis == 0) {
                        lastSuccessNanos = previousPollNanos;
                    } else if (status == CompletionStatus.RETRY_EXCEEDED_ERROR && millis == 0) {
                        millis = (System.nanoTime() - lastSuccessNanos) / 1_000_000;
                    } else if (status != CompletionStatus.WORK_REQUEST_FLUSHED_ERROR || millis == 0) {
                        wrong.append(batch[i]).append(' ');
                    }
                    if (batch[i].id() != completed++) {
                        wrong.append("out of order: ").append(batch[i]).append(' ');
                    }
                }
                writeTo(live, wrong);
            }
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("millis", millis);
            result.put("posted", posted);
            result.put("wrong", wrong.toString());
            parent.report("result", result);
        }

        private void post(TrafficSide side, long id) {
            side.queuePair().postWrite(id, side.region(), 0, MESSAGE_BYTES, side.remote());
        }

        /** Writes once, which must succeed regardless of the failing connection. */
        private void writeTo(TrafficSide side, StringBuilder wrong) {
            post(side, 0);
            int count = side.await(batch, Duration.ofSeconds(1));
            if (count != 1 || !batch[0].isSuccess()) {
                wrong.append("the live connection: ")
                        .append(count == 0 ? "nothing in 1 s" : batch[0])
                        .append(' ');
            }
        }
    }
}
