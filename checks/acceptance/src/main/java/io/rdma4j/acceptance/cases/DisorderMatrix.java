package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.relay.Disturbance;
import io.rdma4j.acceptance.relay.Relay;
import io.rdma4j.acceptance.traffic.AnsweredTraffic;
import io.rdma4j.acceptance.traffic.TrafficOperation;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * SEND, WRITE, WRITE with immediate data and READ of all lengths over fifteen kinds of paths. The paths reorder,
 * duplicate, corrupt or delay packets, or do all of these. Every byte is compared, every completion must be reported
 * once and in order, and exactly the corrupted packets are dropped for their ICRC.
 */
public final class DisorderMatrix implements AcceptanceTest.Body {
    private static final String SIZES = "0,1,1023,1024,1025,4096,65536,1048576";
    private static final long MILLI = 1_000_000;
    /** Exponents of the local ACK timeout: 4 ms, and 0.54 s for paths with a long delay. */
    private static final int SHORT_TIMEOUT = 10;

    private static final int LONG_TIMEOUT = 17;
    private static final long LONG_NANOS = 5 * MILLI;

    private static final Map<String, Disturbance> PATHS = paths();

    private static Map<String, Disturbance> paths() {
        Disturbance none = Disturbance.NONE;
        Map<String, Disturbance> paths = new LinkedHashMap<>();
        for (int percent : new int[] {1, 5, 25}) {
            paths.put("reorder " + percent + " % by 8", none.withReordering(percent / 100.0, 8));
            paths.put("reorder " + percent + " % by 64", none.withReordering(percent / 100.0, 64));
        }
        paths.put("duplicate 1 %", none.withDuplicates(0.01, 0));
        paths.put("duplicate 10 %", none.withDuplicates(0.1, 0));
        paths.put("duplicate 1 % 1 s later", none.withDuplicates(0.01, 1000 * MILLI));
        paths.put("corrupt 0.1 %", none.withCorruption(0.001));
        paths.put("corrupt 1 %", none.withCorruption(0.01));
        // Round-trip times of 1, 20 and 100 ms.
        paths.put("delay 1 ms +-50 %", none.withDelay(MILLI / 2, 0.5));
        paths.put("delay 20 ms +-50 %", none.withDelay(10 * MILLI, 0.5));
        paths.put("delay 100 ms +-50 %", none.withDelay(50 * MILLI, 0.5));
        paths.put(
                "all together",
                none.withReordering(0.01, 8)
                        .withDuplicates(0.01, 10 * MILLI)
                        .withCorruption(0.001)
                        .withDelay(MILLI / 2, 0.5)
                        .withBursts(0.001, 5));
        return paths;
    }

    @Override
    public String required(Scale scale) {
        return "%s, %s each: no wrong byte or completion; ICRC errors = packets corrupted"
                .formatted(
                        scale == Scale.FULL ? "60 of 60 cells" : "15 of 15 cells of 60",
                        scale == Scale.FULL ? "64 MiB" : "2 MiB");
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        long seed = Long.getLong("rdma4j.seed", System.nanoTime());
        Cells cells = new Cells(stage, Relay.between(stage, seed));
        for (int timeout : new int[] {SHORT_TIMEOUT, LONG_TIMEOUT}) {
            String wrong = cells.run(timeout);
            if (!wrong.isEmpty()) {
                return Outcome.failed("-Drdma4j.seed=%d, %s".formatted(seed, wrong));
            }
        }
        long corrupted = cells.relay.count("corrupted");
        return Outcome.of(
                cells.dropped == corrupted && corrupted > 0 && cells.relay.count("overflowed") == 0,
                "%d cells without a wrong byte or completion; %d packets corrupted, %d ICRC errors"
                        .formatted(cells.count, corrupted, cells.dropped));
    }

    /** The cells of one run. */
    private static final class Cells {
        private static final Duration LIMIT = Duration.ofMinutes(20);

        private final TestStage stage;
        private final Relay relay;
        private final long bytes;
        private int count;
        private long dropped;

        Cells(TestStage stage, Relay relay) {
            this.stage = stage;
            this.relay = relay;
            bytes = stage.scale().of(2L, 64L) << 20;
        }

        /** Runs the cells of one timeout with a process on each host. Returns what was wrong, or an empty string. */
        String run(int timeout) throws Exception {
            AnsweredTraffic traffic = AnsweredTraffic.begin(stage, relay.hosts(), timeout, SIZES);
            Child mover = traffic.mover(stage, relay.hosts());
            TrafficOperation[] operations = TrafficOperation.values();
            int path = 0;
            for (Map.Entry<String, Disturbance> each : PATHS.entrySet()) {
                boolean isSlow = each.getValue().delayNanos() > LONG_NANOS;
                int max = isSlow == (timeout == LONG_TIMEOUT) ? stage.scale().of(1, operations.length) : 0;
                for (int i = 0; i < max; i++) {
                    TrafficOperation operation = operations[(path + i) % operations.length];
                    String cell = each.getKey() + ", " + operation;
                    stage.progress(cell);
                    relay.disturb(each.getValue());
                    JsonNode done = mover.ask("exchange " + bytes + " " + operation, "done", LIMIT);
                    relay.disturb(Disturbance.NONE);
                    String wrong = done.get("wrong").asText();
                    if (!wrong.isEmpty()) {
                        return cell + ": " + wrong;
                    }
                    stage.note("%-30s %7d ms %7d packets sent"
                            .formatted(
                                    cell,
                                    done.get("milliseconds").asLong(),
                                    done.get("sentPackets").asLong()));
                    count++;
                }
                path++;
            }
            Thread.sleep(1200); // duplicates arrive a second later
            JsonNode last = mover.ask("exchange 1 WRITE", "done", LIMIT);
            dropped += last.get("icrcErrors").asLong()
                    + traffic.answerer().ask("icrcErrors", "icrcErrors", LIMIT).asLong();
            mover.kill();
            traffic.answerer().kill();
            return last.get("wrong").asText();
        }
    }
}
