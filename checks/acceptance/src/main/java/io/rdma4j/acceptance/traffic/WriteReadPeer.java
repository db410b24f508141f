package io.rdma4j.acceptance.traffic;

import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * An active side that writes numbers into its peer's memory and reads them back, until an error.
 *
 * <p>The parameters are {@code from}, {@code to} and {@code port}. It reports {@code ready}. On {@code look} it reports
 * {@code state}: {@code rounds}, {@code wrong}, {@code memorySent} and {@code sent}, the numbers of packets sent
 * through shared memory and in total. It exits on {@code end}.
 */
public final class WriteReadPeer implements Role {
    /** Size of the memory that the peer needs. */
    public static final int BYTES = 8192;

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private volatile long rounds;
    private volatile String wrong = "";

    @Override
    public void run(Parent parent) throws IOException {
        TrafficSide side = TrafficSide.connect(
                new InetSocketAddress(parent.text("from", "127.0.0.1"), 0),
                new InetSocketAddress(parent.text("to", "127.0.0.1"), (int) parent.number("port", 0)),
                TrafficSide.Shape.of(4, 4, 2L * BYTES));
        Thread.ofPlatform().daemon().start(() -> work(side));
        parent.report("ready", 1);
        for (String command = parent.nextCommand(); !command.equals("end"); command = parent.nextCommand()) {
            Map<String, Object> state = new LinkedHashMap<>();
            state.put("rounds", rounds);
            state.put("wrong", wrong);
            state.put("memorySent", side.id().verbs().counters().getOrDefault("process_memory_sent_pkts", 0L));
            state.put("sent", side.queuePair().counters().getOrDefault("sent_pkts", 0L));
            parent.report("state", state);
        }
    }

    private void work(TrafficSide side) {
        try {
            for (long round = 1; wrong.isEmpty(); round++) {
                wrong = once(side, round);
                rounds = round;
            }
        } catch (RuntimeException e) {
            wrong = e.toString();
            e.printStackTrace();
        }
    }

    private static String once(TrafficSide side, long round) {
        MemorySegment memory = side.region().memory();
        for (int i = 0; i < BYTES; i += Long.BYTES) {
            memory.set(ValueLayout.JAVA_LONG, i, round << 16 | i);
        }
        side.queuePair().postWrite(1, side.region(), 0, BYTES, side.remote());
        side.queuePair().postRead(2, side.region(), BYTES, BYTES, side.remote());
        WorkCompletion[] one = WorkCompletion.array(1);
        for (int id = 1; id <= 2; id++) {
            if (side.await(one, LIMIT) == 0) {
                return side.silence(LIMIT);
            }
            if (!one[0].isSuccess() || one[0].id() != id) {
                return side.failure(one[0]);
            }
        }
        long at = memory.asSlice(0, BYTES).mismatch(memory.asSlice(BYTES, BYTES));
        return at < 0 ? "" : "round " + round + ": wrong byte at " + at;
    }
}
