package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.Damage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.traffic.Connecting;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Connections at 10 % loss in both directions, sequentially and concurrently; and connections with one message of the
 * connection manager dropped once.
 */
public final class ConnectingUnderLoss implements AcceptanceTest.Body {
    private static final int LOSS_PER_MILLE = 100;
    private static final double MAX_MEDIAN_SECONDS = 0.06;
    private static final double MAX_95_PER_CENT_SECONDS = 2;
    private static final double MAX_SECONDS = 15;
    private static final Duration LIMIT = Duration.ofSeconds(90);

    /** The time during which a side that has closed a connection retransmits its message. */
    private static final Duration CLOSE_LIMIT = Duration.ofSeconds(13);

    /** Maximum number of rounds without loss on a machine where even those are slow. */
    private static final int MAX_WARM_UPS = 30;

    /** Attribute IDs of the messages. */
    private static final Map<String, Integer> MESSAGES =
            Map.of("REQ", 0x10, "REP", 0x13, "RTU", 0x14, "DREQ", 0x15, "DREP", 0x16);

    @Override
    public String required(Scale scale) {
        return "10 %% loss, %d sequentially and %d concurrently, each message dropped once: all connect, one event each, and end for both sides; half in 60 ms, 95 %% in 2 s, all in 15 s"
                .formatted(count(scale), count(scale));
    }

    private static int count(Scale scale) {
        return scale.of(40, 100);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Connecting connecting = Connecting.begin(stage, hosts, false);
        int count = count(stage.scale());
        double medianWithoutLoss = warmUp(stage, connecting, count);
        for (Map.Entry<String, Integer> message : MESSAGES.entrySet()) {
            stage.progress(message.getKey() + " lost");
            hosts.damage(Damage.lostOnce(message.getValue()));
            JsonNode _ = connecting.connect(1, 1, LIMIT);
            if (!isLost(hosts)) {
                return Outcome.failed("no " + message.getKey() + " was dropped");
            }
        }
        hosts.damage(Damage.loss(LOSS_PER_MILLE));
        stage.progress("sequentially");
        List<Double> seconds = seconds(connecting.connect(count, 1, LIMIT));
        stage.progress("concurrently");
        double medianSequential = median(seconds);
        seconds.addAll(seconds(connecting.connect(count, count, LIMIT)));
        int openConnections = connecting.awaitEnds(CLOSE_LIMIT);
        hosts.heal();
        double median = median(seconds);
        double percentile95 = seconds.get(seconds.size() * 95 / 100);
        double max = seconds.getLast();
        return Outcome.of(
                max <= MAX_SECONDS && openConnections == 0,
                median <= MAX_MEDIAN_SECONDS && percentile95 <= MAX_95_PER_CENT_SECONDS,
                "%d of %d connected, one event each; half in %.0f ms (sequentially %.0f, concurrently without loss %.0f), 95 %% in %.2f s, all in %.2f s; %d not ended"
                        .formatted(
                                seconds.size(),
                                2 * count,
                                median * 1000,
                                medianSequential * 1000,
                                medianWithoutLoss * 1000,
                                percentile95,
                                max,
                                openConnections));
    }

    /**
     * Connects until the code is compiled, because connecting concurrently takes as long as the processors need for it.
     *
     * @return the last median
     */
    private static double warmUp(TestStage stage, Connecting connecting, int count)
            throws IOException, InterruptedException {
        double median = Double.MAX_VALUE;
        for (int round = 1; round <= MAX_WARM_UPS && median > MAX_MEDIAN_SECONDS / 4; round++) {
            stage.progress("without loss, round " + round);
            median = median(seconds(connecting.connect(count, count, LIMIT)));
        }
        return median;
    }

    /** A disconnecting side does not wait for the response, so the message to be dropped may still be in flight. */
    private static boolean isLost(TwoHosts hosts) throws IOException, InterruptedException {
        for (int polls = 0; polls < 50 && hosts.damaged() == 0; polls++) {
            Thread.sleep(100);
        }
        return hosts.damaged() > 0;
    }

    private static double median(List<Double> seconds) {
        seconds.sort(null);
        return seconds.get(seconds.size() / 2);
    }

    private static List<Double> seconds(JsonNode done) {
        List<Double> seconds = new ArrayList<>();
        done.get("connectNanos").forEach(each -> seconds.add(each.asLong() / 1e9));
        return seconds;
    }
}
