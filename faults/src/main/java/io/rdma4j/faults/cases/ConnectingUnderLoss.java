package io.rdma4j.faults.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.hosts.Damage;
import io.rdma4j.faults.hosts.TwoHosts;
import io.rdma4j.faults.traffic.Connecting;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Connections while one packet in ten is lost either way, one after the other and all at once; and while each message of
 * the connection manager is lost once.
 */
public final class ConnectingUnderLoss implements AcceptanceTest {
    private static final int LOSS_PER_MILLE = 100;
    private static final double MOST_MEDIAN_SECONDS = 0.06;
    private static final double MOST_OF_95_PER_CENT_SECONDS = 2;
    private static final double MOST_SECONDS = 15;
    private static final Duration LIMIT = Duration.ofSeconds(90);

    /** The time in which who has closed a connection repeats that. */
    private static final Duration ENDS = Duration.ofSeconds(13);

    /** Rounds without loss at most, where even those take long. */
    private static final int MOST_WARM_UPS = 30;

    /** Attribute numbers of the messages. */
    private static final Map<String, Integer> MESSAGES =
            Map.of("REQ", 0x10, "REP", 0x13, "RTU", 0x14, "DREQ", 0x15, "DREP", 0x16);

    @Override
    public int number() {
        return 20;
    }

    @Override
    public String title() {
        return "connecting under loss";
    }

    @Override
    public String required(Scale scale) {
        return "10 %% loss, %d one by one and %d at once, each message lost once: all connect, one event each, and end for both; half in 60 ms, 95 %% in 2 s, all in 15 s"
                .formatted(count(scale), count(scale));
    }

    private static int count(Scale scale) {
        return scale.of(40, 100);
    }

    @Override
    public boolean needsRoot() {
        return true;
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
                return Outcome.failed("no " + message.getKey() + " was lost");
            }
        }
        hosts.damage(Damage.loss(LOSS_PER_MILLE));
        stage.progress("one by one");
        List<Double> seconds = seconds(connecting.connect(count, 1, LIMIT));
        stage.progress("at once");
        double medianOneByOne = median(seconds);
        seconds.addAll(seconds(connecting.connect(count, count, LIMIT)));
        int openConnections = connecting.awaitEnds(ENDS);
        hosts.heal();
        double median = median(seconds);
        double of95 = seconds.get(seconds.size() * 95 / 100);
        double most = seconds.getLast();
        return Outcome.of(
                most <= MOST_SECONDS && openConnections == 0,
                median <= MOST_MEDIAN_SECONDS && of95 <= MOST_OF_95_PER_CENT_SECONDS,
                "%d of %d connected, one event each; half in %.0f ms (one by one %.0f, without loss %.0f at once), 95 %% in %.2f s, all in %.2f s; %d not ended"
                        .formatted(
                                seconds.size(),
                                2 * count,
                                median * 1000,
                                medianOneByOne * 1000,
                                medianWithoutLoss * 1000,
                                of95,
                                most,
                                openConnections));
    }

    /**
     * Connects until Java has compiled it: connecting at once takes as long as the processors do for it.
     *
     * @return the last median
     */
    private static double warmUp(TestStage stage, Connecting connecting, int count)
            throws IOException, InterruptedException {
        double median = Double.MAX_VALUE;
        for (int round = 1; round <= MOST_WARM_UPS && median > MOST_MEDIAN_SECONDS / 4; round++) {
            stage.progress("without loss, round " + round);
            median = median(seconds(connecting.connect(count, count, LIMIT)));
        }
        return median;
    }

    /** Who disconnects does not wait for the answer: what is to be lost may still be on its way. */
    private static boolean isLost(TwoHosts hosts) throws IOException, InterruptedException {
        for (int looks = 0; looks < 50 && hosts.damaged() == 0; looks++) {
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
