package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.traffic.AnsweredTraffic;
import java.time.Duration;

/**
 * One process is stopped for seconds, as by a debugger or a long garbage collection, and then both are. Connections
 * with the default timeout of the connection manager survive and resume immediately. A peer that stays stopped causes
 * RETRY_EXC.
 */
public final class Pauses implements AcceptanceTest.Body {
    private static final long MAX_MILLIS = 1000;
    private static final int STOP_SECONDS = 5;
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Override
    public String required(Scale scale) {
        return "%d x 5 s and both for %d s: no error, resumed within 1 s%s"
                .formatted(scale.of(1, 10), scale.of(6, 60), scale == Scale.FULL ? "; 120 s: RETRY_EXC" : "");
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        AnsweredTraffic traffic =
                AnsweredTraffic.begin(stage, hosts, AnsweredTraffic.DEFAULT_ACK_TIMEOUT, "0,1,1024,4096,65536");
        Child active = traffic.pingPong(stage, hosts, "active");
        Child passive = traffic.answerer();
        JsonNode before = AnsweredTraffic.awaitBatches(active, AnsweredTraffic.state(active), 20, LIMIT);
        long max = 0;
        for (int i = 0; i < stage.scale().of(1, 10) + 1; i++) {
            boolean isLast = i == stage.scale().of(1, 10);
            stage.progress(isLast ? "both" : "pause " + (i + 1));
            passive.signal("STOP");
            if (isLast) {
                active.signal("STOP");
            }
            Thread.sleep(1000L * (isLast ? stage.scale().of(6, 60) : STOP_SECONDS));
            passive.signal("CONT");
            active.signal("CONT");
            long begin = System.nanoTime();
            JsonNode after = AnsweredTraffic.awaitBatches(active, before, 2, LIMIT);
            // The first batch may have ended before the stop.
            after = AnsweredTraffic.awaitBatches(active, after, 1, LIMIT);
            max = Math.max(max, (System.nanoTime() - begin) / 1_000_000);
            if (!after.get("wrong").asText().isEmpty()) {
                return Outcome.failed(after.get("wrong").asText());
            }
            Thread.sleep(500);
            before = AnsweredTraffic.state(active);
        }
        String finalStatus = "";
        if (stage.scale() == Scale.FULL) {
            stage.progress("indefinitely");
            passive.signal("STOP");
            Thread.sleep(120_000);
            finalStatus = AnsweredTraffic.state(active).get("status").asText();
            passive.signal("CONT");
        }
        return Outcome.of(
                finalStatus.isEmpty() || finalStatus.equals("RETRY_EXCEEDED_ERROR"),
                max <= MAX_MILLIS,
                "no error, resumed within %d ms%s"
                        .formatted(max, finalStatus.isEmpty() ? "" : "; 120 s: " + finalStatus));
    }
}
