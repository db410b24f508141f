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
 * Under traffic, the cable goes down for half a second repeatedly. Then neighbour entries are flushed, and finally
 * packets of the connection's path MTU no longer fit. Connections survive all but the last, which ends them with an
 * error status.
 */
public final class LinkFlaps implements AcceptanceTest.Body {
    /** The path MTU of the connection is 1024 bytes, plus headers. */
    private static final int MTU_THAT_FITS = 1280;

    private static final int MTU_TOO_SMALL = 1000;
    private static final int BATCHES_AFTER = 20;
    private static final int DOWN_MILLIS = 500;
    private static final long MAX_MILLIS = 1000;
    /** Exponent of the local ACK timeout: 0.54 s. */
    private static final int ACK_TIMEOUT = 17;
    /** Longer than the connection waits: 8 times at most 4 timeouts. */
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Override
    public String required(Scale scale) {
        return "%d x 0.5 s down, neighbours flushed: no error, resumed within 1 s, PORT events each; MTU 1280 has no effect, 1000: RETRY_EXC"
                .formatted(scale.of(2, 20));
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        AnsweredTraffic traffic = AnsweredTraffic.begin(stage, hosts, ACK_TIMEOUT, "0,1,1024,4096,65536");
        Child active = traffic.pingPong(stage, hosts, "active");
        JsonNode before = AnsweredTraffic.awaitBatches(active, AnsweredTraffic.state(active), 20, LIMIT);
        long max = 0;
        int flaps = stage.scale().of(2, 20);
        for (int i = 0; i < flaps + 1; i++) {
            stage.progress(i == flaps ? "neighbours" : "flap " + (i + 1) + " of " + flaps);
            if (i == flaps) {
                hosts.left().run("ip", "neigh", "flush", "all");
                hosts.right().run("ip", "neigh", "flush", "all");
            } else {
                hosts.cable(hosts.left(), false);
                Thread.sleep(DOWN_MILLIS);
                hosts.cable(hosts.left(), true);
            }
            long begin = System.nanoTime();
            before = AnsweredTraffic.state(active);
            JsonNode after = AnsweredTraffic.awaitBatches(active, before, 2, LIMIT);
            max = Math.max(max, (System.nanoTime() - begin) / 1_000_000);
            if (!after.get("wrong").asText().isEmpty()) {
                return Outcome.failed(
                        "flap " + (i + 1) + ": " + after.get("wrong").asText());
            }
            Thread.sleep(2000); // port events are reported within a second
        }
        JsonNode events = AnsweredTraffic.state(active);
        int errors = events.get("portErrors").asInt();
        int actives = events.get("portActives").asInt();
        stage.progress("MTU");
        hosts.mtu(MTU_THAT_FITS);
        events = AnsweredTraffic.awaitBatches(active, events, BATCHES_AFTER, LIMIT);
        if (!events.get("wrong").asText().isEmpty()) {
            return Outcome.failed(
                    "MTU " + MTU_THAT_FITS + ": " + events.get("wrong").asText());
        }
        hosts.mtu(MTU_TOO_SMALL);
        JsonNode end = AnsweredTraffic.awaitBatches(active, events, Integer.MAX_VALUE, LIMIT);
        String status = end.get("status").asText();
        return Outcome.of(
                errors >= flaps && actives >= flaps && status.equals("RETRY_EXCEEDED_ERROR"),
                max <= MAX_MILLIS,
                "no error, resumed within %d ms, %d PORT_ERR, %d PORT_ACTIVE; MTU: %s after %.1f s"
                        .formatted(
                                max,
                                errors,
                                actives,
                                status,
                                end.get("endMillis").asLong() / 1000.0));
    }
}
