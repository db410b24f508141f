package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.traffic.AnsweredTraffic;
import io.rdma4j.value.CompletionStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Clients exchange messages with one server. The client that owns the UDP port of its host is killed: the server and
 * the other clients continue, and the server frees its resources. Then the server is killed: every client is notified
 * in time.
 */
public final class KilledInTraffic implements AcceptanceTest.Body {
    /** 8 times at most 4 times 67 ms, and a margin. */
    private static final long MAX_MILLIS = 2400;

    private static final double MIN_GOODPUT = 0.95;
    /** Time-wait of a connection, and 5 s. */
    private static final Duration RELEASE = Duration.ofSeconds(8);

    /** A side that waits for a response has no request outstanding, so no timeout detects that its peer was killed. */
    private static final Duration KEEP_ALIVE = Duration.ofMillis(200);

    /** A send exceeds its retry count; or a receive is flushed if no send was outstanding. */
    private static final Set<String> EXPECTED_STATUSES =
            Set.of(CompletionStatus.RETRY_EXCEEDED_ERROR.name(), CompletionStatus.WORK_REQUEST_FLUSHED_ERROR.name());

    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Override
    public String required(Scale scale) {
        return "one of %d clients killed: others keep 95 %%, server frees its resources; server killed: errors in 2.4 s"
                .formatted(clients(scale));
    }

    private static int clients(Scale scale) {
        return scale.of(3, 8);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        AnsweredTraffic traffic = AnsweredTraffic.begin(stage, hosts, 14, "0,1,1024,4096,65536", KEEP_ALIVE);
        List<Child> clients = new ArrayList<>();
        for (int i = 0; i < clients(stage.scale()); i++) {
            clients.add(traffic.pingPong(stage, hosts, "client-" + i));
        }
        for (Child client : clients) {
            JsonNode _ = AnsweredTraffic.awaitBatches(client, AnsweredTraffic.state(client), 200, LIMIT);
        }
        Duration interval = Duration.ofSeconds(stage.scale().of(4, 20));
        stage.progress("all");
        long batchesOfAll = batches(clients.subList(1, clients.size()), interval);
        stage.progress("one client killed");
        clients.removeFirst().kill();
        long begin = System.nanoTime();
        long batchesOfOthers = batches(clients, interval);
        int connections;
        do {
            connections =
                    traffic.answerer().ask("connections", "connections", LIMIT).asInt();
            Thread.sleep(20);
        } while (connections > clients.size()
                && System.nanoTime() - begin < RELEASE.plus(interval).toNanos());
        stage.progress("server killed");
        traffic.answerer().kill();
        long max = 0;
        for (Child client : clients) {
            JsonNode end = AnsweredTraffic.state(client);
            end = AnsweredTraffic.awaitBatches(client, end, Integer.MAX_VALUE, LIMIT);
            if (!EXPECTED_STATUSES.contains(end.get("status").asText())) {
                return Outcome.failed("server killed: " + end);
            }
            max = Math.max(max, end.get("endMillis").asLong());
        }
        return Outcome.of(
                connections == clients.size(),
                batchesOfOthers >= MIN_GOODPUT * batchesOfAll && max <= MAX_MILLIS,
                "others at %.0f %%, %d connections of %d left on the server; server killed: errors in %.2f s"
                        .formatted(100.0 * batchesOfOthers / batchesOfAll, connections, clients.size(), max / 1000.0));
    }

    /** Returns the number of batches that the clients complete in an interval. */
    private static long batches(List<Child> clients, Duration interval) throws IOException, InterruptedException {
        long before = 0;
        for (Child client : clients) {
            before += AnsweredTraffic.state(client).get("batches").asLong();
        }
        Thread.sleep(interval);
        long after = 0;
        for (Child client : clients) {
            JsonNode state = AnsweredTraffic.state(client);
            if (!state.get("wrong").asText().isEmpty()) {
                throw new IOException("another client: " + state.get("wrong").asText());
            }
            after += state.get("batches").asLong();
        }
        return after - before;
    }
}
