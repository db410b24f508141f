package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.management.OperatingSystemMXBean;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Messages arrive at a queue pair without a posted receive. The sender waits as long as each of the 32 timer codes
 * specifies, and fails after the configured number of retries or retries indefinitely. A receive that is posted late is
 * used. The receiver sends at most one RNR NAK per wait, and both processes use little processor time.
 *
 * <p>A wait that is too short fails the test. A wait that is too long is retried twice, because the machine may have
 * been busy.
 */
public final class ReceiverNotReady implements AcceptanceTest.Body {
    private static final double MAX_PROCESSOR = 0.05;
    private static final Duration STEP = Duration.ofSeconds(20);

    /** Lets compilation finish soon. */
    private static final String QUICK = "-XX:TieredStopAtLevel=1";

    /** Milliseconds by code (InfiniBand Architecture Specification, volume 1, 9.7.5.2.8). */
    private static final double[] MILLIS = {
        655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92, 2.56, 3.84,
        5.12, 7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52
    };

    private static final int OUTSTANDING = 64;
    private static final int BYTES = 64;
    private static final int ATTEMPTS = 3;
    private static final int UNLIMITED = 7;
    /** 5.12 ms, for counting; 0.01 ms and 0.64 ms, for the processor time. */
    private static final int COUNTED_CODE = 18;

    private static final int[] BUSY_CODES = {1, 12};
    private static final Duration WAIT_LIMIT = Duration.ofSeconds(20);

    @Override
    public String required(Scale scale) {
        return "32 timer codes and rnr_retry 0 to 6 as specified, +max(20 %%, 5 ms); 7 retries for %d s; at most 1 NAK per wait and 5 %% of a processor each"
                .formatted(waitSeconds(scale));
    }

    private static int waitSeconds(Scale scale) {
        return scale.of(3, 60);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        stage.progress("timer codes");
        Child both = Child.builder(stage, "both", Both.class).options(QUICK).start();
        JsonNode result = both.await("result", stage.limit());
        both.kill();
        if (!result.get("wrong").isEmpty()) {
            return Outcome.failed(result.get("wrong").size() + " wrong: "
                    + result.get("wrong").get(0).asText());
        }
        Child sender = Child.builder(stage, "sender", End.class).options(QUICK).start();
        Child receiver =
                Child.builder(stage, "receiver", End.class).options(QUICK).start();
        Cost _ = waitForReceives(stage, sender, receiver, BUSY_CODES[0], 3); // compiles the code
        int seconds = waitSeconds(stage.scale());
        Cost cost = waitForReceives(stage, sender, receiver, COUNTED_CODE, seconds);
        for (int code : BUSY_CODES) {
            cost = cost.max(waitForReceives(stage, sender, receiver, code, seconds));
        }
        return Outcome.of(
                cost.naksPerWait <= 1,
                cost.sender <= MAX_PROCESSOR
                        && cost.receiver <= MAX_PROCESSOR
                        && result.get("late").isEmpty(),
                "%d too late, at most by %.1f ms; at most %.2f NAKs per wait; %.1f %% of a processor, receiver %.1f %%"
                        .formatted(
                                result.get("late").size(),
                                result.get("latestMillis").asDouble(),
                                cost.naksPerWait,
                                100 * cost.sender,
                                100 * cost.receiver));
    }

    /** The cost of waiting: NAKs per wait, and processor time as a fraction of the elapsed time. */
    private record Cost(double naksPerWait, double sender, double receiver) {
        Cost max(Cost other) {
            return new Cost(
                    Math.max(naksPerWait, other.naksPerWait),
                    Math.max(sender, other.sender),
                    Math.max(receiver, other.receiver));
        }
    }

    /** Posts many sends that wait for the given time, then posts receives for all. */
    private static Cost waitForReceives(TestStage stage, Child sender, Child receiver, int code, int seconds)
            throws IOException, InterruptedException {
        stage.progress("waiting with code " + code);
        int from = sender.ask("make", "number", STEP).asInt();
        int to = receiver.ask("make", "number", STEP).asInt();
        JsonNode _ = receiver.ask("connect " + from + " " + code, "connected", STEP);
        JsonNode _ = sender.ask("connect " + to + " " + code, "connected", STEP);
        long begin = System.nanoTime();
        JsonNode _ = sender.ask("send", "sent", STEP);
        long sentBefore = sender.ask("processor", "processor", STEP).asLong();
        long receivedBefore = receiver.ask("processor", "processor", STEP).asLong();
        long measuredFrom = System.nanoTime();
        Thread.sleep(Duration.ofSeconds(seconds));
        long sending = sender.ask("processor", "processor", STEP).asLong() - sentBefore;
        long receiving = receiver.ask("processor", "processor", STEP).asLong() - receivedBefore;
        double nanos = System.nanoTime() - measuredFrom;
        long naks = receiver.ask("refusals", "refusals", STEP).asLong();
        double waits = (System.nanoTime() - begin) / 1e6 / MILLIS[code];
        if (naks < 2) {
            throw new IOException("code " + code + ": no retry");
        }
        JsonNode _ = receiver.ask("receive", "received", STEP);
        JsonNode _ = sender.ask("finish", "finished", STEP);
        Cost cost = new Cost((naks - 1) / waits, sending / nanos, receiving / nanos);
        stage.note("code %d: %s".formatted(code, cost));
        return cost;
    }

    private static SendWorkRequest send(MemoryRegion from) {
        return new SendWorkRequest().from(from, 0, BYTES).signaled();
    }

    private static VerbsSide.RetryParameters retryParameters(int retries, int code) {
        return new VerbsSide.RetryParameters(18, 7, retries, code);
    }

    private static long count(QueuePair queuePair, String name) {
        return queuePair.counters().getOrDefault(name, -1L);
    }

    /** One side of a waiting connection, which acts on commands. */
    public static final class End implements Role {
        @Override
        public void run(Parent parent) throws IOException {
            InetAddress address = InetAddress.getLoopbackAddress();
            try (VerbsSide side = new VerbsSide(address, 2 * OUTSTANDING, 0);
                    Arena arena = Arena.ofShared();
                    MemoryRegion memory = side.domain().register(arena.allocate(BYTES, 8), VerbsSide.ALL)) {
                while (connection(parent, side, memory)) {}
            }
        }

        private static boolean connection(Parent parent, VerbsSide side, MemoryRegion memory) throws IOException {
            if (!parent.nextCommand().equals("make")) {
                return false;
            }
            try (QueuePair queuePair = side.queuePair(OUTSTANDING, OUTSTANDING)) {
                parent.report("number", queuePair.number());
                String[] peer = parent.nextCommand().split(" ", -1);
                side.connect(
                        queuePair,
                        InetAddress.getLoopbackAddress(),
                        Integer.parseInt(peer[1]),
                        retryParameters(UNLIMITED, Integer.parseInt(peer[2])));
                parent.report("connected", 1);
                while (execute(parent, parent.nextCommand(), side, queuePair, memory)) {}
            }
            return true;
        }

        /** Executes a command. Returns whether the connection continues. */
        private static boolean execute(
                Parent parent, String command, VerbsSide side, QueuePair queuePair, MemoryRegion memory) {
            switch (command) {
                case "send" -> {
                    SendWorkRequest[] sends = new SendWorkRequest[OUTSTANDING];
                    Arrays.setAll(
                            sends,
                            i -> new SendWorkRequest()
                                    .reset(i)
                                    .from(memory, 0, BYTES)
                                    .signaled());
                    queuePair.postSends(sends, OUTSTANDING);
                    parent.report("sent", 1);
                }
                case "receive" -> {
                    for (int i = 0; i < OUTSTANDING; i++) {
                        queuePair.postReceive(new ReceiveWorkRequest().reset(i).into(memory, 0, BYTES));
                    }
                    awaitAll(side);
                    parent.report("received", 1);
                    return false;
                }
                case "finish" -> {
                    awaitAll(side);
                    parent.report("finished", 1);
                    return false;
                }
                case "refusals" -> parent.report("refusals", count(queuePair, "send_rnr_err"));
                case "processor" ->
                    parent.report(
                            "processor",
                            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)
                                    .getProcessCpuTime());
                default -> throw new IllegalArgumentException(command);
            }
            return true;
        }

        private static void awaitAll(VerbsSide side) {
            for (int i = 0; i < OUTSTANDING; i++) {
                WorkCompletion completion = side.await(WAIT_LIMIT);
                if (!completion.isSuccess() || completion.id() != i) {
                    throw new IllegalStateException("message " + i + ", after a wait: " + completion);
                }
            }
        }
    }

    /** Sender and receiver in one process, so no other process delays them. */
    public static final class Both implements Role {
        private final List<String> wrong = new ArrayList<>();
        private final List<String> late = new ArrayList<>();
        private double latestMillis;

        @Override
        public void run(Parent parent) throws InterruptedException {
            InetAddress address = InetAddress.getLoopbackAddress();
            try (VerbsSide sender = new VerbsSide(address, 2 * OUTSTANDING, 0);
                    VerbsSide receiver = new VerbsSide(address, 2 * OUTSTANDING, 1);
                    Arena arena = Arena.ofShared();
                    MemoryRegion from = sender.domain().register(arena.allocate(BYTES, 8), VerbsSide.ALL);
                    MemoryRegion to = receiver.domain().register(arena.allocate(BYTES, 8), VerbsSide.ALL)) {
                warmUp(sender, from, receiver);
                for (int code = 0; code < MILLIS.length; code++) {
                    exhaustRetries(sender, from, receiver, code, 1);
                }
                for (int retries = 0; retries < UNLIMITED; retries++) {
                    exhaustRetries(sender, from, receiver, COUNTED_CODE, retries);
                }
                postLate(sender, from, receiver, to);
            }
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("wrong", wrong);
            result.put("late", late);
            result.put("latestMillis", latestMillis);
            parent.report("result", result);
        }

        /** Loads classes and compiles hot code. */
        private void warmUp(VerbsSide sender, MemoryRegion from, VerbsSide receiver) {
            exhaustRetries(sender, from, receiver, 12, 6);
            wrong.clear();
            late.clear();
            latestMillis = 0;
        }

        /** Posts no receive at all and expects the error after {@code retries} waits. */
        private void exhaustRetries(VerbsSide sender, MemoryRegion from, VerbsSide receiver, int code, int retries) {
            String label = "code " + code + ", rnr_retry " + retries;
            double expectedMillis = retries * MILLIS[code];
            double maxMillis = retries * (MILLIS[code] + slackMillis(code)) + slackMillis(COUNTED_CODE);
            double shortest = Double.MAX_VALUE;
            for (int i = 0; i < ATTEMPTS && shortest > maxMillis; i++) {
                try (QueuePair sending = sender.queuePair(OUTSTANDING, 1);
                        QueuePair receiving = receiver.queuePair(1, OUTSTANDING)) {
                    VerbsSide.connect(sender, sending, receiver, receiving, retryParameters(retries, code));
                    long begin = System.nanoTime();
                    sending.postSend(send(from));
                    WorkCompletion end = sender.await(WAIT_LIMIT);
                    double millis = (System.nanoTime() - begin) / 1e6;
                    shortest = Math.min(shortest, millis);
                    long naks = count(receiving, "send_rnr_err");
                    long sent = count(sending, "sent_pkts");
                    require(end.status() == CompletionStatus.RNR_RETRY_EXCEEDED_ERROR, label + ": " + end);
                    require(
                            naks == retries + 1 && sent == retries + 1,
                            label + ": " + sent + " packets, " + naks + " NAKs");
                    require(millis >= expectedMillis, label + ": fails after " + millis + " ms");
                }
            }
            if (shortest > maxMillis) {
                late.add(label + ": fails after " + shortest + " ms");
            }
            latestMillis = Math.max(latestMillis, (shortest - expectedMillis) / Math.max(1, retries));
        }

        private static double slackMillis(int code) {
            return Math.max(MILLIS[code] / 5, 5);
        }

        /** Posts a receive during the third wait, which the fourth packet must find. */
        private void postLate(VerbsSide sender, MemoryRegion from, VerbsSide receiver, MemoryRegion to)
                throws InterruptedException {
            int code = 26;
            try (QueuePair sending = sender.queuePair(OUTSTANDING, 1);
                    QueuePair receiving = receiver.queuePair(1, OUTSTANDING)) {
                VerbsSide.connect(sender, sending, receiver, receiving, retryParameters(3, code));
                sending.postSend(send(from));
                Thread.sleep((long) (2.4 * MILLIS[code]));
                receiving.postReceive(new ReceiveWorkRequest().reset(1).into(to, 0, BYTES));
                long begin = System.nanoTime();
                require(receiver.await(WAIT_LIMIT).isSuccess(), "a late receive is not filled");
                double millis = (System.nanoTime() - begin) / 1e6;
                require(sender.await(WAIT_LIMIT).isSuccess(), "a late receive: the send fails");
                if (millis > MILLIS[code] + slackMillis(code)) {
                    late.add("a late receive is filled only after " + millis + " ms");
                }
            }
        }

        private void require(boolean isRight, String label) {
            if (!isRight) {
                wrong.add(label);
            }
        }
    }
}
