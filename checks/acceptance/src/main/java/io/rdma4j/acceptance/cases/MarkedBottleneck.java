package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.BottleneckHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.acceptance.traffic.PassiveTarget;
import io.rdma4j.acceptance.traffic.WriteStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Two hosts write to a third one over a link that is slower than either. If the router marks packets, both hosts reduce
 * their rates before its buffer is full: nothing is lost, and they use the whole link in equal shares. If the router
 * marks nothing, packets that could be marked carry as many bytes as packets that could not.
 */
public final class MarkedBottleneck implements AcceptanceTest.Body {
    private static final int MESSAGE_BYTES = 16_384;
    private static final int PAYLOAD_BYTES = 1024;

    /** BTH, ICRC, and the UDP, IPv4 and Ethernet headers; the RETH of the first packet of a message is negligible. */
    private static final int HEADER_BYTES = 12 + 4 + 8 + 20 + 14;

    private static final double REQUIRED_GOODPUT = 0.9;
    private static final double REQUIRED_SHARE = 0.8;

    /** The minimum ratio of the goodput without marks: two identical runs also differ. */
    private static final double REQUIRED_UNMARKED = 0.9;

    private static final Duration LIMIT = Duration.ofMinutes(2);

    /** The time that the rates need to settle. */
    private static final int SETTLING_SECONDS = 6;

    private record Result(double goodput, double share, long lost, long retransmitted, long notifications) {}

    @Override
    public String required(Scale scale) {
        return "2 senders, %d s over %d Mbit/s with marks: shares within 20 %%, no loss, goodput of 90 %%; without marks as without ECN"
                .formatted(seconds(scale), BottleneckHosts.LINK_MBIT);
    }

    private static int seconds(Scale scale) {
        return scale.of(6, 60);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        BottleneckHosts hosts = stage.keep(BottleneckHosts.create());
        hosts.marks(true);
        Result marked = write(stage, hosts, "marked", "auto");
        long marks = hosts.marked();
        hosts.marks(false);
        Result unmarked = write(stage, hosts, "unmarked", "auto");
        Result without = write(stage, hosts, "without", "off");
        stage.note("marked " + marked + ", " + marks + " marks; unmarked " + unmarked + "; without ECN " + without);
        // Without marks the senders were too slow to fill the link, as on a busy machine.
        boolean isCorrect = (marks == 0 || marked.notifications > 0) && unmarked.notifications == 0;
        boolean isGood = marks > 0
                && marked.lost == 0
                && marked.share >= REQUIRED_SHARE
                && marked.goodput >= REQUIRED_GOODPUT
                && unmarked.goodput >= REQUIRED_UNMARKED * without.goodput;
        return Outcome.of(
                isCorrect,
                isGood,
                "smaller share %.0f %% of the larger, %d lost, %d sent again, goodput %.0f %%, %d marks; without marks %.0f %%, without ECN %.0f %%"
                        .formatted(
                                100 * marked.share,
                                marked.lost,
                                marked.retransmitted,
                                100 * marked.goodput,
                                marks,
                                100 * unmarked.goodput,
                                100 * without.goodput));
    }

    /** Lets both senders write concurrently, and returns their results after a settling time. */
    private static Result write(TestStage stage, BottleneckHosts hosts, String name, String ecn) throws Exception {
        stage.progress(name);
        Child target = Child.builder(stage, name + "-target", PassiveTarget.class)
                .on(hosts.receiver())
                .with("address", BottleneckHosts.RECEIVER)
                .start();
        int port = target.await("port", LIMIT).asInt();
        List<Child> senders = new ArrayList<>();
        for (int i = 0; i < BottleneckHosts.SENDERS.size(); i++) {
            senders.add(Child.builder(stage, name + "-sender" + i, Sender.class)
                    .on(hosts.sender(i))
                    .options("-Drdma4j.ecn=" + ecn)
                    .with("from", BottleneckHosts.SENDERS.get(i))
                    .with("to", BottleneckHosts.RECEIVER)
                    .with("port", port)
                    .start());
        }
        for (Child sender : senders) {
            sender.await("ready", LIMIT);
        }
        run(senders, SETTLING_SECONDS);
        long droppedBefore = hosts.dropped();
        List<JsonNode> done = run(senders, seconds(stage.scale()));
        List<Double> rates = new ArrayList<>();
        long retransmitted = 0;
        long notifications = 0;
        for (JsonNode of : done) {
            rates.add(of.get("bytes").asDouble() / of.get("nanos").asLong() * 1e9);
            retransmitted += of.get("retransmitted").asLong();
            notifications += of.get("notifications").asLong();
        }
        for (Child sender : senders) {
            sender.sendLine("end");
        }
        target.sendLine("end");
        double capacity = BottleneckHosts.LINK_MBIT * 125_000.0 * PAYLOAD_BYTES / (PAYLOAD_BYTES + HEADER_BYTES);
        double smaller = Math.min(rates.getFirst(), rates.getLast());
        double larger = Math.max(rates.getFirst(), rates.getLast());
        return new Result(
                (smaller + larger) / capacity,
                smaller / larger,
                hosts.dropped() - droppedBefore,
                retransmitted,
                notifications);
    }

    private static List<JsonNode> run(List<Child> senders, int seconds) throws IOException, InterruptedException {
        for (Child sender : senders) {
            sender.sendLine("write " + seconds);
        }
        List<JsonNode> done = new ArrayList<>();
        for (Child sender : senders) {
            JsonNode report = sender.await("done", LIMIT);
            if (!report.get("wrong").asText().isEmpty()) {
                throw new IOException(report.get("wrong").asText());
            }
            done.add(report);
        }
        return done;
    }

    /** A process that writes for the time in each command, over one connection. */
    public static final class Sender implements Role {
        private static final int ACK_TIMEOUT = 16;

        @Override
        public void run(Parent parent) throws IOException {
            InetSocketAddress from = new InetSocketAddress(parent.text("from", ""), 0);
            InetSocketAddress to = new InetSocketAddress(parent.text("to", ""), (int) parent.number("port", 0));
            try (WriteStream stream = new WriteStream(from, to, ACK_TIMEOUT, MESSAGE_BYTES)) {
                parent.report("ready", 1);
                for (String line = parent.nextCommand(); !line.equals("end"); line = parent.nextCommand()) {
                    Duration time = Duration.ofSeconds(Long.parseLong(line.split(" ", -1)[1]));
                    parent.report("done", write(stream, time));
                }
            }
        }

        private static Map<String, Object> write(WriteStream stream, Duration time) {
            Map<String, Long> before = stream.side().queuePair().counters();
            long completed = stream.completed();
            long begin = System.nanoTime();
            boolean _ = stream.writeFor(time);
            Map<String, Object> done = new LinkedHashMap<>();
            done.put("nanos", System.nanoTime() - begin);
            done.put("bytes", (stream.completed() - completed) * MESSAGE_BYTES);
            Map<String, Long> after = stream.side().queuePair().counters();
            done.put("retransmitted", difference(before, after, "retransmitted_pkts"));
            done.put("notifications", difference(before, after, "rp_cnp_handled"));
            done.put("wrong", stream.wrong());
            return done;
        }

        private static long difference(Map<String, Long> before, Map<String, Long> after, String name) {
            return after.getOrDefault(name, 0L) - before.getOrDefault(name, 0L);
        }
    }
}
