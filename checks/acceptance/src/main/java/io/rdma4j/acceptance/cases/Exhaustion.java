package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.traffic.AnsweredTraffic;
import io.rdma4j.acceptance.traffic.Starved;
import java.time.Duration;

/**
 * A process runs out of file descriptors and of table entries. Existing connections continue, new ones fail with a
 * message that names the reason, and succeed once resources are free. A heap of 64 MiB and sends refused by the system
 * have no effect.
 */
public final class Exhaustion implements AcceptanceTest.Body {
    private static final String SIZES = "0,1,1024,4096,65536";
    private static final String SECOND_ADDRESS = "10.86.0.3";
    private static final int DESCRIPTORS = 64;
    private static final int REFUSED_PER_MILLE = 100;
    private static final long MAX_MILLIS = 1000;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @Override
    public String required(Scale scale) {
        return "64 descriptors, 64 MiB heap, 10 % of sends refused (EPERM), all protection domains + 1: clear errors, "
                + "no wrong byte, connections continue; new ones within 1 s of freed resources";
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        hosts.left().run("ip", "addr", "add", SECOND_ADDRESS + "/24", "dev", TwoHosts.CABLE);
        AnsweredTraffic traffic = AnsweredTraffic.begin(stage, hosts, 14, SIZES);
        stage.progress("descriptors and tables");
        Child starved = Child.builder(stage, "starved", Starved.class)
                .on(hosts.left())
                .withPrefix("prlimit", "--nofile=" + DESCRIPTORS)
                .options("-Xmx64m")
                .with("from", TwoHosts.LEFT + "," + SECOND_ADDRESS)
                .with("to", TwoHosts.RIGHT)
                .with("port", traffic.port())
                .with("sizes", SIZES)
                .start();
        JsonNode result = starved.await("result", LIMIT);
        if (!result.get("wrong").asText().isEmpty()) {
            return Outcome.failed(result.get("wrong").asText());
        }
        String refusal = result.get("refusal").asText();
        if (!refusal.contains("EMFILE")) {
            return Outcome.failed("a new address without descriptors: "
                    + (refusal.isEmpty() ? "not refused" : "\"" + refusal + "\" does not name the reason"));
        }
        stage.progress("sends refused");
        hosts.refuseSending(hosts.left(), REFUSED_PER_MILLE);
        hosts.refuseSending(hosts.right(), REFUSED_PER_MILLE);
        long bytes = (long) stage.scale().of(4, 64) << 20;
        JsonNode moved = traffic.mover(stage, hosts)
                .ask("exchange " + bytes + " SEND WRITE WRITE_IMMEDIATE READ", "done", LIMIT);
        if (!moved.get("wrong").asText().isEmpty()) {
            return Outcome.failed("sends refused: " + moved.get("wrong").asText());
        }
        long recovery = result.get("recoveryMillis").asLong();
        return Outcome.of(
                true,
                recovery <= MAX_MILLIS,
                "clear errors, connections continued, a new one %d ms later; %d MiB transferred with sends refused"
                        .formatted(recovery, moved.get("bytes").asLong() >> 20));
    }
}
