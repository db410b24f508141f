package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.acceptance.traffic.ForgedWrite;
import io.rdma4j.acceptance.traffic.TrafficSide;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Another user of the host sends RDMA WRITEs from another UDP port, which have no effect. The user knows queue pair
 * number, PSN, key and address. Without the check of the source port the first WRITE succeeds, which shows that it is
 * otherwise correct.
 */
public final class SameHostAttacker implements AcceptanceTest.Body {
    private static final Duration STEP = Duration.ofSeconds(20);
    private static final String NOBODY = "65534";
    private static final int ATTACKER_PORT = 40_123;
    private static final int PACKETS_PER_RUN = 50_000;
    private static final long INJECTED = 0xeeee_eeee_eeee_eeeeL;

    @Override
    public String required(Scale scale) {
        return "0 of " + packets(scale) + " valid-looking WRITEs of another user accepted";
    }

    private static int packets(Scale scale) {
        return scale.of(100_000, 1_000_000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        JsonNode unchecked = attack(stage, hosts, "unchecked", 1, "-Drdma4j.security=source-port=off");
        if (unchecked.get("memory").asLong() != INJECTED) {
            return Outcome.failed("the forged packet is rejected even without the check, so the test proves nothing");
        }
        int packets = packets(stage.scale());
        JsonNode guarded = attack(stage, hosts, "guarded", packets);
        long seen = guarded.get("dropped").asLong();
        boolean untouched = guarded.get("memory").asLong() == 0
                && guarded.get("psnBefore").asInt() == guarded.get("psnAfter").asInt();
        String secondWrite = guarded.get("works").asText();
        return Outcome.of(
                untouched && secondWrite.isEmpty() && seen >= packets / 10,
                "%s of %d accepted, %d reached the queue pair and were dropped%s"
                        .formatted(
                                untouched ? "0" : "some",
                                packets,
                                seen,
                                secondWrite.isEmpty() ? "" : "; afterwards " + secondWrite));
    }

    /**
     * Runs two connected processes on the left host, and an unprivileged process that sends {@code packets} packets
     * into the connection.
     */
    private static JsonNode attack(TestStage stage, TwoHosts hosts, String name, int packets, String... options)
            throws IOException, InterruptedException {
        Child victim = Child.builder(stage, name + "-victim", Victim.class)
                .on(hosts.left())
                .options(options)
                .start();
        int port = victim.await("port", STEP).asInt();
        Child peer = Child.builder(stage, name + "-peer", Peer.class)
                .on(hosts.left())
                .options(options)
                .with("port", port)
                .start();
        peer.await("written", STEP);
        JsonNode target = victim.await("target", STEP);
        String packet = ForgedWrite.hex(
                TwoHosts.LEFT,
                ATTACKER_PORT,
                target.get("queuePair").asInt(),
                target.get("psn").asInt(),
                target.get("address").asLong() + Long.BYTES,
                target.get("key").asInt(),
                INJECTED);
        for (int sent = 0; sent < packets; sent += PACKETS_PER_RUN) {
            stage.progress(name + ": " + sent + " of " + packets);
            hosts.left()
                    .run(
                            "setpriv",
                            "--reuid",
                            NOBODY,
                            "--clear-groups",
                            "perl",
                            "-MSocket",
                            "-e",
                            ForgedWrite.SENDER,
                            TwoHosts.LEFT,
                            Integer.toString(ATTACKER_PORT),
                            Integer.toString(Math.min(PACKETS_PER_RUN, packets - sent)),
                            packet);
        }
        peer.sendLine("again");
        String secondWrite = peer.await("again", STEP).asText();
        victim.sendLine("report");
        JsonNode report = victim.await("report", STEP);
        peer.kill();
        victim.kill();
        return ((ObjectNode) report).put("works", secondWrite);
    }

    /** Has memory that its peer may write, and reports everything that an attacker needs to know. */
    public static final class Victim implements Role {
        @Override
        public void run(Parent parent) throws IOException, InterruptedException {
            TrafficSide.Listener listener = new TrafficSide.Listener(new InetSocketAddress(TwoHosts.LEFT, 0), 4);
            parent.report("port", listener.port());
            TrafficSide side = listener.accept(TrafficSide.Shape.of(16, 16, 4096));
            awaitFirstWrite(side);
            int psn = side.queuePair().query().receivePsn();
            Map<String, Object> target = new LinkedHashMap<>();
            target.put("queuePair", side.queuePair().number());
            target.put("psn", psn);
            target.put("address", side.region().address());
            target.put("key", side.region().remoteKey());
            parent.report("target", target);
            String _ = parent.nextCommand();
            Map<String, Object> report = new LinkedHashMap<>();
            report.put("memory", side.region().memory().get(ValueLayout.JAVA_LONG, Long.BYTES));
            report.put("dropped", side.queuePair().counters().getOrDefault("bad_source_port", 0L));
            report.put("psnBefore", psn);
            // The peer has written again.
            report.put("psnAfter", side.queuePair().query().receivePsn() - 1 & 0xff_ffff);
            parent.report("report", report);
            String _ = parent.nextCommand();
        }

        private static void awaitFirstWrite(TrafficSide side) throws InterruptedException {
            while (side.queuePair().counters().getOrDefault("rcvd_pkts", 0L) == 0) {
                Thread.sleep(1);
            }
        }
    }

    /** The victim's peer. Writes once, so that the victim learns its UDP port, and again on command. */
    public static final class Peer implements Role {
        private final WorkCompletion[] batch = WorkCompletion.array(4);

        @Override
        public void run(Parent parent) throws IOException {
            TrafficSide side = TrafficSide.connect(
                    new InetSocketAddress(TwoHosts.LEFT, 0),
                    new InetSocketAddress(TwoHosts.LEFT, (int) parent.number("port", 0)),
                    TrafficSide.Shape.of(16, 16, 4096));
            parent.report("written", write(side));
            while (parent.nextCommand().equals("again")) {
                parent.report("again", write(side));
            }
        }

        /** Writes once. Returns the reason of a failure, or an empty string. */
        private String write(TrafficSide side) {
            side.queuePair().postWrite(0, side.region(), 0, Long.BYTES, side.remote());
            int count = side.await(batch, Duration.ofSeconds(5));
            return count == 0 ? "no completion in 5 s" : batch[0].isSuccess() ? "" : batch[0].toString();
        }
    }
}
