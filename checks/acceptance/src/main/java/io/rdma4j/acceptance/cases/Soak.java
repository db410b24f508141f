package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.Damage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.ResourceUsage;
import io.rdma4j.acceptance.traffic.AnsweredTraffic;
import io.rdma4j.acceptance.traffic.Connecting;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A long run of all operations at 1 % loss. Clients transfer and check bytes, one client is killed repeatedly, and
 * others connect and disconnect. No byte is wrong and no client stalls. At the end the server, a client and the target
 * of the connections use the same resources as after a third of the time.
 */
@SuppressWarnings("try") // closing may throw InterruptedException
public final class Soak implements AcceptanceTest.Body {
    private static final String SIZES = "0,1,1023,1024,4096,65536";

    /** Exponent of 134 ms, because a busy machine may suspend a process for longer than eight short timeouts. */
    private static final int ACK_TIMEOUT = 15;

    private static final int CLIENTS = 3;
    private static final int CONNECTIONS_PER_ROUND = 20;
    private static final int THREADS = 2;
    private static final int LOSS_PER_MILLE = 10;
    private static final Duration ROUND = Duration.ofSeconds(3);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /**
     * A process that is killed just after connecting may not have registered its connection with another process. The
     * server therefore probes silent peers.
     */
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(2);
    /** Longer than the keep-alive interval and time-wait. */
    private static final Duration SETTLE = Duration.ofSeconds(8);
    /** Limit of the quick form, in which tables still grow and code is still loaded. */
    private static final long QUICK_MAX_BYTES = 4 << 20;
    /**
     * Limit of the full form, whose measurements are twenty minutes apart: one mebibyte per hour, and the fluctuation
     * between two measurements of the heap.
     */
    private static final long FULL_MAX_BYTES = (1 << 20) / 3 + (256 << 10);

    @Override
    public String required(Scale scale) {
        return scale.of(24, 30 * 60)
                + " s at 1 % loss with kills and churn: no wrong byte, no client stalls; no descriptor"
                + " or thread more, memory at most 1 MiB per hour";
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        AnsweredTraffic traffic = AnsweredTraffic.begin(stage, hosts, ACK_TIMEOUT, SIZES, KEEP_ALIVE);
        List<Child> clients = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(traffic.pingPong(stage, hosts, "client-" + i));
        }
        Connecting connecting = Connecting.begin(stage, hosts, false);
        hosts.damage(Damage.loss(LOSS_PER_MILLE));
        List<Child> watched = List.of(traffic.answerer(), clients.getFirst(), connecting.target());
        Duration total = Duration.ofSeconds(stage.scale().of(24L, 30 * 60));
        List<JsonNode> before = states(clients);
        int kills = rounds(stage, traffic, hosts, connecting, total.dividedBy(3));
        List<ResourceUsage> first = resourceUsage(watched);
        kills += rounds(stage, traffic, hosts, connecting, total.multipliedBy(2).dividedBy(3));
        List<JsonNode> after = states(clients);
        List<ResourceUsage> last = resourceUsage(watched);
        long batches = 0;
        for (int i = 0; i < CLIENTS; i++) {
            String wrong = after.get(i).get("wrong").asText();
            long more = after.get(i).get("batches").asLong()
                    - before.get(i).get("batches").asLong();
            if (!wrong.isEmpty() || more == 0) {
                return Outcome.failed("client " + i + (wrong.isEmpty() ? " stalls" : ": " + wrong));
            }
            batches += more;
        }
        long maxBytes = stage.scale().of(QUICK_MAX_BYTES, FULL_MAX_BYTES);
        boolean isFlat = true;
        StringBuilder more = new StringBuilder();
        for (int i = 0; i < watched.size(); i++) {
            ResourceUsage difference = last.get(i).since(first.get(i));
            isFlat &= difference.isWithin(maxBytes);
            more.append(i == 0 ? "server " : i == 1 ? ", client " : ", target ").append(difference);
        }
        return Outcome.of(
                isFlat,
                "%d batches correct, %d connections, %d kills; %s"
                        .formatted(batches, kills * CONNECTIONS_PER_ROUND, kills, more));
    }

    /**
     * Starts and kills a client, and connects and disconnects, until the time has elapsed. Returns the number of killed
     * clients.
     */
    private static int rounds(
            TestStage stage, AnsweredTraffic traffic, TwoHosts hosts, Connecting connecting, Duration duration)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + duration.toNanos();
        int kills = 0;
        while (System.nanoTime() - end < 0) {
            stage.progress("%d s left, %d connections"
                    .formatted((end - System.nanoTime()) / 1_000_000_000L, kills * CONNECTIONS_PER_ROUND));
            try (Child victim = traffic.pingPong(stage, hosts, "victim")) {
                JsonNode _ = connecting.connect(CONNECTIONS_PER_ROUND, THREADS, LIMIT);
                Thread.sleep(ROUND);
                String wrong = AnsweredTraffic.state(victim).get("wrong").asText();
                if (!wrong.isEmpty()) {
                    throw new IOException("a client: " + wrong);
                }
                victim.kill();
                kills++;
            }
        }
        Thread.sleep(SETTLE);
        return kills;
    }

    private static List<JsonNode> states(List<Child> clients) throws IOException, InterruptedException {
        List<JsonNode> states = new ArrayList<>();
        for (Child client : clients) {
            states.add(AnsweredTraffic.state(client));
        }
        return states;
    }

    private static List<ResourceUsage> resourceUsage(List<Child> children) throws IOException, InterruptedException {
        List<ResourceUsage> resourceUsage = new ArrayList<>();
        for (Child child : children) {
            resourceUsage.add(child.resourceUsage());
        }
        return resourceUsage;
    }
}
