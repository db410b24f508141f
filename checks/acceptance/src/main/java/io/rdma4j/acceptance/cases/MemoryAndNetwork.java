package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.hosts.TwoHosts;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.acceptance.traffic.VerbsSide.RetryParameters;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A process writes concurrently to a process on its host, through shared memory, and to a process on another host, by
 * UDP, on queue pairs with the same completion queue. It reads back the data. Both peers have all data, and each
 * received it by the expected way.
 */
public final class MemoryAndNetwork implements AcceptanceTest.Body {
    private static final int MESSAGE_BYTES = 4096;
    private static final int PEERS = 2;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** 0.27 s, since the processes share the processors of one machine. */
    private static final RetryParameters RETRIES = new RetryParameters(16, 7, 7, 1);

    @Override
    public String required(Scale scale) {
        return writes(scale)
                + " WRITEs and READs to each of a process of the host and one of another, on one completion queue: all data"
                + " correct, by memory and by UDP";
    }

    private static int writes(Scale scale) {
        return scale.of(5_000, 500_000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        TwoHosts hosts = stage.keep(TwoHosts.create());
        Child near = Child.builder(stage, "near", Target.class)
                .on(hosts.left())
                .with("address", TwoHosts.LEFT)
                .start();
        Child far = Child.builder(stage, "far", Target.class)
                .on(hosts.right())
                .with("address", TwoHosts.RIGHT)
                .start();
        Child writer = Child.builder(stage, "writer", Writer.class)
                .on(hosts.left())
                .with("writes", writes(stage.scale()))
                .start();
        String numbers = writer.await("numbers", LIMIT).asText();
        String nearAt = near.await("at", LIMIT).asText();
        String farAt = far.await("at", LIMIT).asText();
        near.sendLine(numbers.split(",", -1)[0]);
        far.sendLine(numbers.split(",", -1)[1]);
        near.await("connected", LIMIT);
        far.await("connected", LIMIT);
        writer.sendLine(nearAt);
        writer.sendLine(farAt);
        JsonNode done = writer.await("done", stage.limit());
        JsonNode ofNear = near.ask("look", "state", LIMIT);
        JsonNode ofFar = far.ask("look", "state", LIMIT);
        stage.note(done + " near " + ofNear + " far " + ofFar);
        int writes = writes(stage.scale());
        long byMemory = done.get("memorySent").asLong();
        long sent = done.get("sent").asLong();
        boolean isRight = done.get("wrong").asText().isEmpty()
                && ofNear.get("last").asLong() == writes
                && ofFar.get("last").asLong() == writes;
        boolean tookBoth = byMemory >= 2L * writes
                && ofNear.get("memoryReceived").asLong() >= 2L * writes
                && sent - byMemory >= 2L * writes
                && ofFar.get("memoryReceived").asLong() == 0
                && ofFar.get("received").asLong() >= 2L * writes;
        return Outcome.of(
                isRight && tookBoth,
                "%d packets by memory, %d by UDP, last numbers %d and %d%s"
                        .formatted(
                                byMemory,
                                sent - byMemory,
                                ofNear.get("last").asLong(),
                                ofFar.get("last").asLong(),
                                done.get("wrong").asText().isEmpty()
                                        ? ""
                                        : "; " + done.get("wrong").asText()));
    }

    private static long counter(VerbsSide side, String name) {
        return side.context().counters().getOrDefault(name, 0L);
    }

    /** A process with memory. */
    public static final class Target implements Role {
        @Override
        public void run(Parent parent) throws IOException {
            try (Arena arena = Arena.ofShared();
                    VerbsSide side = new VerbsSide(InetAddress.ofLiteral(parent.text("address", "")), 16, 0)) {
                MemoryRegion region = side.domain().register(arena.allocate(MESSAGE_BYTES, 4096), VerbsSide.ALL);
                QueuePair queuePair = side.queuePair(4, 4);
                parent.report("at", queuePair.number() + "," + region.address() + "," + region.remoteKey());
                int peer = Integer.parseInt(parent.nextCommand());
                side.connect(queuePair, InetAddress.ofLiteral(TwoHosts.LEFT), peer, RETRIES);
                parent.report("connected", 1);
                while (parent.nextCommand().equals("look")) {
                    Map<String, Object> state = new LinkedHashMap<>();
                    state.put("last", region.memory().get(ValueLayout.JAVA_LONG, MESSAGE_BYTES - Long.BYTES));
                    state.put("memoryReceived", counter(side, "process_memory_rcvd_pkts"));
                    state.put("received", counter(side, "process_rcvd_pkts"));
                    parent.report("state", state);
                }
                region.close();
            }
        }
    }

    /**
     * The process with two peers. Half of its memory belongs to each peer, for the data to write and the data read
     * back.
     */
    public static final class Writer implements Role {
        private final WorkCompletion[] batch = WorkCompletion.array(2 * PEERS);
        private final SendWorkRequest request = new SendWorkRequest();

        @Override
        public void run(Parent parent) throws IOException {
            try (Arena arena = Arena.ofShared();
                    VerbsSide side = new VerbsSide(InetAddress.ofLiteral(TwoHosts.LEFT), 16, 0)) {
                MemoryRegion region =
                        side.domain().register(arena.allocate(2L * PEERS * MESSAGE_BYTES, 4096), VerbsSide.ALL);
                QueuePair[] queuePairs = {side.queuePair(4, 4), side.queuePair(4, 4)};
                parent.report("numbers", queuePairs[0].number() + "," + queuePairs[1].number());
                long[] addresses = new long[PEERS];
                int[] keys = new int[PEERS];
                for (int i = 0; i < PEERS; i++) {
                    String[] at = parent.nextCommand().split(",", -1);
                    InetAddress peer = InetAddress.ofLiteral(i == 0 ? TwoHosts.LEFT : TwoHosts.RIGHT);
                    side.connect(queuePairs[i], peer, Integer.parseInt(at[0]), RETRIES);
                    addresses[i] = Long.parseLong(at[1]);
                    keys[i] = Integer.parseInt(at[2]);
                }
                long writes = parent.number("writes", 0);
                String wrong = "";
                for (long number = 1; number <= writes && wrong.isEmpty(); number++) {
                    for (int i = 0; i < PEERS; i++) {
                        post(queuePairs[i], region, i, number, addresses[i], keys[i]);
                    }
                    wrong = awaitAll(side, region, number);
                }
                Map<String, Object> done = new LinkedHashMap<>();
                done.put("wrong", wrong);
                done.put("memorySent", counter(side, "process_memory_sent_pkts"));
                done.put("sent", counter(side, "process_sent_pkts"));
                parent.report("done", done);
                String _ = parent.nextCommand();
            }
        }

        private static long at(int peer, boolean isRead) {
            return (2L * peer + (isRead ? 1 : 0)) * MESSAGE_BYTES;
        }

        private void post(QueuePair queuePair, MemoryRegion region, int peer, long number, long address, int key) {
            for (int i = 0; i < MESSAGE_BYTES; i += Long.BYTES) {
                region.memory().set(ValueLayout.JAVA_LONG, at(peer, false) + i, number);
            }
            queuePair.postSend(request.reset(2L * peer)
                    .from(region, at(peer, false), MESSAGE_BYTES)
                    .write(address, key)
                    .signaled());
            queuePair.postSend(request.reset(2L * peer + 1)
                    .from(region, at(peer, true), MESSAGE_BYTES)
                    .read(address, key)
                    .signaled());
        }

        private String awaitAll(VerbsSide side, MemoryRegion region, long number) {
            int left = 2 * PEERS;
            for (long begin = System.nanoTime(); left > 0; Thread.onSpinWait()) {
                int count = side.completions().poll(batch);
                for (int i = 0; i < count; i++) {
                    if (!batch[i].isSuccess()) {
                        return "number " + number + ": " + batch[i];
                    }
                }
                left -= count;
                if (System.nanoTime() - begin > LIMIT.toNanos()) {
                    return "number " + number + ": " + left + " completions are missing";
                }
            }
            for (int peer = 0; peer < PEERS; peer++) {
                for (int i = 0; i < MESSAGE_BYTES; i += Long.BYTES) {
                    if (region.memory().get(ValueLayout.JAVA_LONG, at(peer, true) + i) != number) {
                        return "number " + number + " is wrong at " + i + " of peer " + peer;
                    }
                }
            }
            return "";
        }
    }
}
