package io.rdma4j.faults.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.hosts.TwoHosts;
import io.rdma4j.faults.process.Child;
import io.rdma4j.faults.traffic.AnsweredTraffic;
import io.rdma4j.verbs.CompletionStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Clients in traffic with one server. One client is killed, the one that owns the UDP port of its host: the server and the
 * others go on, and the server gets its resources back. Then the server is killed: every client learns it in time.
 */
public final class KilledInTraffic implements AcceptanceTest {
    /** 8 times at most 4 times 67 ms, and a little. */
    private static final long MOST_MILLIS = 2400;

    private static final double LEAST_GOODPUT = 0.95;
    /** Time-wait of a connection, and 5 s. */
    private static final Duration RELEASE = Duration.ofSeconds(8);

    /** Who waits for an answer has nothing under way, whose time-outs could tell of the peer's death. */
    private static final Duration KEEP_ALIVE = Duration.ofMillis(200);

    /** A send that is repeated in vain; or a receive, where nothing was under way. */
    private static final Set<String> ENDS =
            Set.of(CompletionStatus.RETRY_EXCEEDED_ERROR.name(), CompletionStatus.WORK_REQUEST_FLUSHED_ERROR.name());

    private static final Duration LIMIT = Duration.ofSeconds(30);

    @Override
    public int number() {
        return 7;
    }

    @Override
    public String title() {
        return "peer killed in traffic";
    }

    @Override
    public String required(Scale scale) {
        return "one of %d clients killed: others keep 95 %%, server has its resources back; server killed: errors in 2.4 s"
                .formatted(clients(scale));
    }

    private static int clients(Scale scale) {
        return scale.of(3, 8);
    }

    @Override
    public boolean needsRoot() {
        return true;
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
        long all = batches(clients.subList(1, clients.size()), interval);
        stage.progress("one client killed");
        clients.removeFirst().kill();
        long begin = System.nanoTime();
        long others = batches(clients, interval);
        int connections;
        do {
            connections =
                    traffic.answerer().ask("connections", "connections", LIMIT).asInt();
            Thread.sleep(20);
        } while (connections > clients.size()
                && System.nanoTime() - begin < RELEASE.plus(interval).toNanos());
        stage.progress("server killed");
        traffic.answerer().kill();
        long most = 0;
        for (Child client : clients) {
            JsonNode end = AnsweredTraffic.state(client);
            end = AnsweredTraffic.awaitBatches(client, end, Integer.MAX_VALUE, LIMIT);
            if (!ENDS.contains(end.get("status").asText())) {
                return Outcome.failed("server killed: " + end);
            }
            most = Math.max(most, end.get("endMillis").asLong());
        }
        return Outcome.of(
                connections == clients.size(),
                others >= LEAST_GOODPUT * all && most <= MOST_MILLIS,
                "others at %.0f %%, %d connections of %d left on the server; server killed: told in %.2f s"
                        .formatted(100.0 * others / all, connections, clients.size(), most / 1000.0));
    }

    /** How much the clients get done in an interval. */
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
