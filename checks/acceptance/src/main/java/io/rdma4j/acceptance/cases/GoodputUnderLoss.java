package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.Damage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.traffic.AnsweredTraffic;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Goodput of WRITEs of 64 KiB under packet loss in both directions, and packets sent per packet needed. Each lossy run
 * is compared with the lossless run of its round, because the speed of a shared machine changes within seconds. The
 * result is the median of the ratios, because single runs can be twice as fast when two processes happen not to delay
 * each other.
 */
public final class GoodputUnderLoss implements AcceptanceTest.Body {
    private static final int[] LOSS_PER_MILLE = {0, 1, 10, 50, 100};
    private static final int[] KEPT_PER_CENT = {100, 85, 50, 10, 3};
    private static final int MESSAGE_BYTES = 65536;
    private static final int PACKET_BYTES = 1024;
    private static final double MAX_PACKETS_AT_1_PER_CENT = 1.5;
    private static final int ROUNDS = 9;

    /** Warm-up until most code is compiled. */
    private static final int WARM_UP_MESSAGES = 1600;

    /** Exponent of the ACK timeout, 67 ms. Even a busy machine does not suspend a process for eight of these. */
    private static final int ACK_TIMEOUT = 14;

    private static final Duration LIMIT = Duration.ofMinutes(10);

    @Override
    public String required(Scale scale) {
        return "at 0.1, 1, 5, 10 %% loss at least 85, 50, 10, 3 %% of lossless; at most 1.5 packets sent per packet needed at 1 %%; median of %d x %d MiB"
                .formatted(ROUNDS, mebibytes(scale));
    }

    private static int mebibytes(Scale scale) {
        return scale.of(32, 500);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Child mover = AnsweredTraffic.begin(stage, hosts, ACK_TIMEOUT, Integer.toString(MESSAGE_BYTES))
                .mover(stage, hosts);
        long messages = ((long) mebibytes(stage.scale()) << 20) / MESSAGE_BYTES;
        Run _ = run(mover, WARM_UP_MESSAGES);
        double[][] bytesPerNano = new double[LOSS_PER_MILLE.length][ROUNDS];
        double[][] kept = new double[LOSS_PER_MILLE.length][ROUNDS];
        double[] packets = new double[LOSS_PER_MILLE.length];
        for (int round = 0; round < ROUNDS; round++) {
            for (int i = 0; i < LOSS_PER_MILLE.length; i++) {
                stage.progress("round " + (round + 1) + " of " + ROUNDS + ", " + LOSS_PER_MILLE[i] / 10.0 + " % loss");
                hosts.damage(Damage.loss(LOSS_PER_MILLE[i]));
                Run run = run(mover, messages);
                bytesPerNano[i][round] = run.bytesPerNano();
                kept[i][round] = run.bytesPerNano() / bytesPerNano[0][round];
                packets[i] += run.sentPerNeeded() / ROUNDS;
            }
        }
        boolean isReached = packets[2] <= MAX_PACKETS_AT_1_PER_CENT;
        List<String> percentages = new ArrayList<>();
        for (int i = 1; i < kept.length; i++) {
            double perCent = 100 * median(kept[i]);
            isReached &= perCent >= KEPT_PER_CENT[i];
            percentages.add("%.0f".formatted(perCent));
        }
        return Outcome.of(
                true,
                isReached,
                "%s %% of %.2f GB/s; %.2f packets sent per packet needed at 1 %%, %.2f at 10 %%"
                        .formatted(String.join(", ", percentages), median(bytesPerNano[0]), packets[2], packets[4]));
    }

    private static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }

    private record Run(double bytesPerNano, double sentPerNeeded) {}

    private static Run run(Child mover, long messages) throws IOException, InterruptedException {
        JsonNode done = mover.ask("stream " + messages, "done", LIMIT);
        if (!done.get("wrong").asText().isEmpty()) {
            throw new IOException(done.get("wrong").asText());
        }
        double bytes = (double) messages * MESSAGE_BYTES;
        return new Run(
                bytes / done.get("nanos").asLong(), done.get("sentPackets").asLong() * PACKET_BYTES / bytes);
    }
}
