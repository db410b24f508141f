package io.rdma4j.faults.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.hosts.Damage;
import io.rdma4j.faults.hosts.TwoHosts;
import io.rdma4j.faults.process.Child;
import io.rdma4j.faults.process.ResourceUsage;
import io.rdma4j.faults.traffic.AnsweredTraffic;
import io.rdma4j.faults.traffic.Connecting;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * Everything at once, for long, at 1 % loss: clients that move bytes by every operation and look at each, one of them
 * killed over and over, and others that connect and leave. Nothing is wrong, nothing stands still, and the server, a client
 * and who takes the connections hold at the end what they held after a third of the time.
 */
@SuppressWarnings("try") // closing waits for an end, which may be interrupted
public final class Soak implements AcceptanceTest {
    private static final String SIZES = "0,1,1023,1024,4096,65536";

    /** Exponent of 134 ms: processes that share a busy machine are held back for longer than eight short ones. */
    private static final int ACK_TIMEOUT = 15;

    private static final int CLIENTS = 3;
    private static final int CONNECTIONS_A_ROUND = 20;
    private static final int THREADS = 2;
    private static final int LOSS_PER_MILLE = 10;
    private static final Duration ROUND = Duration.ofSeconds(3);
    private static final Duration LIMIT = Duration.ofSeconds(60);
    /** Who is killed just after it has connected has left no will yet: the server asks who says nothing for so long. */
    private static final Duration KEEP_ALIVE = Duration.ofSeconds(2);
    /** Longer than that, and than time-wait. */
    private static final Duration SETTLE = Duration.ofSeconds(8);
    /** In the quick form: tables grow to their size, code is still loaded. */
    private static final long QUICK_MOST_BYTES = 4 << 20;
    /** In the twenty minutes of the full form: a mebibyte an hour, and what a heap seems to hold more from look to look. */
    private static final long FULL_MOST_BYTES = (1 << 20) / 3 + (256 << 10);

    /** Creates the test. */
    public Soak() {}

    @Override
    public int number() {
        return 30;
    }

    @Override
    public String title() {
        return "soak";
    }

    @Override
    public String required(Scale scale) {
        return scale.of(24, 30 * 60)
                + " s at 1 % loss with kills and churn: no wrong byte, nothing stands still; no descriptor"
                + " and no thread more, memory <= 1 MiB an hour";
    }

    @Override
    public boolean needsRoot() {
        return true;
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
        Duration whole = Duration.ofSeconds(stage.scale().of(24L, 30 * 60));
        List<JsonNode> before = states(clients);
        int kills = rounds(stage, traffic, hosts, connecting, whole.dividedBy(3));
        List<ResourceUsage> first = resourceUsage(watched);
        kills += rounds(stage, traffic, hosts, connecting, whole.multipliedBy(2).dividedBy(3));
        List<JsonNode> after = states(clients);
        List<ResourceUsage> last = resourceUsage(watched);
        long batches = 0;
        for (int i = 0; i < CLIENTS; i++) {
            String wrong = after.get(i).get("wrong").asText();
            long more = after.get(i).get("batches").asLong()
                    - before.get(i).get("batches").asLong();
            if (!wrong.isEmpty() || more == 0) {
                return Outcome.failed("client " + i + (wrong.isEmpty() ? " stands still" : ": " + wrong));
            }
            batches += more;
        }
        long mostBytes = stage.scale().of(QUICK_MOST_BYTES, FULL_MOST_BYTES);
        boolean isFlat = true;
        StringBuilder more = new StringBuilder();
        for (int i = 0; i < watched.size(); i++) {
            ResourceUsage difference = last.get(i).since(first.get(i));
            isFlat &= difference.isWithin(mostBytes);
            more.append(i == 0 ? "server " : i == 1 ? ", client " : ", churned ")
                    .append(difference);
        }
        return Outcome.of(
                isFlat,
                "%d batches right, %d connections, %d kills; %s"
                        .formatted(batches, kills * CONNECTIONS_A_ROUND, kills, more));
    }

    /** Kills a client and starts another, and connects and leaves, until the time is over; how many were killed. */
    private static int rounds(
            TestStage stage, AnsweredTraffic traffic, TwoHosts hosts, Connecting connecting, Duration duration)
            throws IOException, InterruptedException {
        long end = System.nanoTime() + duration.toNanos();
        int kills = 0;
        while (System.nanoTime() - end < 0) {
            stage.progress("%d s left, %d connections"
                    .formatted((end - System.nanoTime()) / 1_000_000_000L, kills * CONNECTIONS_A_ROUND));
            try (Child victim = traffic.pingPong(stage, hosts, "victim")) {
                JsonNode _ = connecting.connect(CONNECTIONS_A_ROUND, THREADS, LIMIT);
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
