package io.rdma4j.faults.cases;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.management.OperatingSystemMXBean;
import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.Stage;
import io.rdma4j.faults.process.Child;
import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
import io.rdma4j.faults.traffic.VerbsSide;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * 16: messages come to a receiver that has no receive posted. The sender waits as long as each of the 32 codes says, gives up
 * after as many repetitions as it was told, or never, and a receive that is posted late is found. Meanwhile the receiver
 * refuses at most once per time, and both together take next to no processor time.
 *
 * <p>A wait that was too short fails at once. One that was too long is tried again twice: it may have been the processor that
 * was not to be had.
 */
public final class ReceiverNotReady implements AcceptanceTest {
    private static final double MOST_PROCESSOR = 0.05;

    /** Creates the test. */
    public ReceiverNotReady() {}

    @Override
    public int number() {
        return 16;
    }

    @Override
    public String title() {
        return "receiver not ready";
    }

    @Override
    public String asked(Scale scale) {
        return "32 timer codes and rnr_retry 0 to 6 as due, +max(20 %%, 5 ms); 7 goes on %d s; NAKs <= 1 per time, <= 5 %% of a processor"
                .formatted(goingOnSeconds(scale));
    }

    private static int goingOnSeconds(Scale scale) {
        return scale.of(3, 60);
    }

    @Override
    public int limitSeconds(Scale scale) {
        return scale.of(120, 600);
    }

    @Override
    public Outcome run(Stage stage) throws Exception {
        Child child = Child.builder(stage, "both", Both.class)
                .options("-XX:TieredStopAtLevel=1") // so that compilers are soon done
                .with("goingOnSeconds", goingOnSeconds(stage.scale()))
                .start();
        JsonNode result = child.await("result", Duration.ofSeconds(limitSeconds(stage.scale())));
        if (!result.get("wrong").isEmpty()) {
            return Outcome.failed(result.get("wrong").size() + " wrong: "
                    + result.get("wrong").get(0).asText());
        }
        double processor = result.get("processor").asDouble();
        return Outcome.of(
                true,
                processor <= MOST_PROCESSOR && result.get("late").isEmpty(),
                "as due but %d too late, latest by %.1f ms; at most %.2f NAKs per time, %.1f %% of a processor at code %d"
                        .formatted(
                                result.get("late").size(),
                                result.get("latestMillis").asDouble(),
                                result.get("refusalsPerTime").asDouble(),
                                100 * processor,
                                result.get("processorCode").asInt()));
    }

    /** Sender and receiver in one process, so that its processor time is that of both. */
    public static final class Both implements Role {
        /** Milliseconds by code, as in the InfiniBand Architecture, volume 1, 9.7.5.2.8. */
        private static final double[] MILLIS = {
            655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92, 2.56,
            3.84, 5.12, 7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52
        };

        private static final int OUTSTANDING = 64;
        private static final int BYTES = 64;
        private static final int TRIES = 3;
        private static final int FOR_EVER = 7;
        /** 5.12 ms, for counting; 0.01 ms and 0.64 ms, for the processor. */
        private static final int COUNTED_CODE = 18;

        private static final int[] BUSY_CODES = {1, 12};
        private static final Duration PATIENCE = Duration.ofSeconds(20);

        private final List<String> wrong = new ArrayList<>();
        private final List<String> late = new ArrayList<>();
        private double latestMillis;
        private double refusalsPerTime;
        private double processor;
        private int processorCode;

        /** Creates the role. */
        public Both() {}

        @Override
        public void play(Parent parent) throws InterruptedException {
            InetAddress address = InetAddress.getLoopbackAddress();
            try (VerbsSide sender = new VerbsSide(address, 2 * OUTSTANDING, 0);
                    VerbsSide receiver = new VerbsSide(address, 2 * OUTSTANDING, 1);
                    Arena arena = Arena.ofShared();
                    MemoryRegion from = sender.domain().register(arena.allocate(BYTES, 8), VerbsSide.ALL);
                    MemoryRegion to = receiver.domain().register(arena.allocate(BYTES, 8), VerbsSide.ALL)) {
                warmUp(sender, from, receiver, to);
                for (int code = 0; code < MILLIS.length; code++) {
                    giveUp(sender, from, receiver, code, 1);
                }
                for (int retries = 0; retries < FOR_EVER; retries++) {
                    giveUp(sender, from, receiver, COUNTED_CODE, retries);
                }
                postLate(sender, from, receiver, to);
                Duration each = Duration.ofSeconds(parent.number("goingOnSeconds", 3));
                goOn(sender, from, receiver, to, COUNTED_CODE, each);
                for (int code : BUSY_CODES) {
                    goOn(sender, from, receiver, to, code, each);
                }
            }
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("wrong", wrong);
            result.put("late", late);
            result.put("latestMillis", latestMillis);
            result.put("refusalsPerTime", refusalsPerTime);
            result.put("processor", processor);
            result.put("processorCode", processorCode);
            parent.say("result", result);
        }

        /** Loads classes and lets what runs often be compiled. */
        private void warmUp(VerbsSide sender, MemoryRegion from, VerbsSide receiver, MemoryRegion to)
                throws InterruptedException {
            giveUp(sender, from, receiver, 12, 6);
            goOn(sender, from, receiver, to, 1, Duration.ofSeconds(2));
            wrong.clear();
            late.clear();
            latestMillis = 0;
            refusalsPerTime = 0;
            processor = 0;
        }

        /** No receive at all: the error comes after {@code retries} waits. */
        private void giveUp(VerbsSide sender, MemoryRegion from, VerbsSide receiver, int code, int retries) {
            String what = "code " + code + ", rnr_retry " + retries;
            double dueMillis = retries * MILLIS[code];
            double mostMillis = retries * (MILLIS[code] + slackMillis(code)) + slackMillis(COUNTED_CODE);
            double least = Double.MAX_VALUE;
            for (int i = 0; i < TRIES && least > mostMillis; i++) {
                try (QueuePair sending = sender.queuePair(OUTSTANDING, 1);
                        QueuePair receiving = receiver.queuePair(1, OUTSTANDING)) {
                    VerbsSide.connect(sender, sending, receiver, receiving, patience(retries, code));
                    long begin = System.nanoTime();
                    sending.postSend(send(from));
                    WorkCompletion end = sender.await(PATIENCE);
                    double millis = (System.nanoTime() - begin) / 1e6;
                    least = Math.min(least, millis);
                    long refusals = count(receiving, "send_rnr_err");
                    long sent = count(sending, "sent_pkts");
                    require(end.status() == CompletionStatus.RNR_RETRY_EXCEEDED_ERROR, what + ": " + end);
                    require(
                            refusals == retries + 1 && sent == retries + 1,
                            what + ": " + sent + " packets, " + refusals + " NAKs");
                    require(millis >= dueMillis, what + ": gives up after " + millis + " ms");
                }
            }
            if (least > mostMillis) {
                late.add(what + ": gives up after " + least + " ms");
            }
            latestMillis = Math.max(latestMillis, (least - dueMillis) / Math.max(1, retries));
        }

        private static double slackMillis(int code) {
            return Math.max(MILLIS[code] / 5, 5);
        }

        /** A receive is posted in the third wait: the fourth packet finds it. */
        private void postLate(VerbsSide sender, MemoryRegion from, VerbsSide receiver, MemoryRegion to)
                throws InterruptedException {
            int code = 26;
            try (QueuePair sending = sender.queuePair(OUTSTANDING, 1);
                    QueuePair receiving = receiver.queuePair(1, OUTSTANDING)) {
                VerbsSide.connect(sender, sending, receiver, receiving, patience(3, code));
                sending.postSend(send(from));
                Thread.sleep((long) (2.4 * MILLIS[code]));
                receiving.postReceive(new ReceiveWorkRequest().reset(1).into(to, 0, BYTES));
                long begin = System.nanoTime();
                require(receiver.await(PATIENCE).isSuccess(), "a late receive is not filled");
                double millis = (System.nanoTime() - begin) / 1e6;
                require(sender.await(PATIENCE).isSuccess(), "a late receive: the send fails");
                if (millis > MILLIS[code] + slackMillis(code)) {
                    late.add("a late receive is filled only after " + millis + " ms");
                }
            }
        }

        /** Many sends wait for as long as it takes; then receives for all come. */
        private void goOn(
                VerbsSide sender, MemoryRegion from, VerbsSide receiver, MemoryRegion to, int code, Duration time)
                throws InterruptedException {
            try (QueuePair sending = sender.queuePair(OUTSTANDING, 1);
                    QueuePair receiving = receiver.queuePair(1, OUTSTANDING)) {
                VerbsSide.connect(sender, sending, receiver, receiving, patience(FOR_EVER, code));
                SendWorkRequest[] sends = new SendWorkRequest[OUTSTANDING];
                for (int i = 0; i < OUTSTANDING; i++) {
                    sends[i] = send(from);
                }
                long begin = System.nanoTime();
                sending.postSends(sends, OUTSTANDING);
                Thread.sleep(1000); // compilers take processor time at first
                OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
                long processorBefore = system.getProcessCpuTime();
                long measuredFrom = System.nanoTime();
                Thread.sleep(time);
                double used =
                        (double) (system.getProcessCpuTime() - processorBefore) / (System.nanoTime() - measuredFrom);
                System.err.println("code " + code + ": " + used + " of a processor, " + sending.counters());
                if (used > processor) {
                    processor = used;
                    processorCode = code;
                }
                long refusals = count(receiving, "send_rnr_err");
                double times = (System.nanoTime() - begin) / 1e6 / MILLIS[code];
                refusalsPerTime = Math.max(refusalsPerTime, (refusals - 1) / times);
                require(refusals - 1 <= times, "code " + code + ": " + refusals + " NAKs in " + times + " times");
                require(refusals > 1, "code " + code + ": not tried again");
                end(sender, receiver, receiving, to, code);
            }
        }

        private void end(VerbsSide sender, VerbsSide receiver, QueuePair receiving, MemoryRegion to, int code) {
            for (int i = 0; i < OUTSTANDING; i++) {
                receiving.postReceive(new ReceiveWorkRequest().reset(i).into(to, 0, BYTES));
            }
            for (int i = 0; i < OUTSTANDING; i++) {
                WorkCompletion received = receiver.await(PATIENCE);
                require(received.isSuccess() && received.id() == i, "code " + code + ", at last: " + received);
                require(sender.await(PATIENCE).isSuccess(), "code " + code + ", at last: a send fails");
            }
        }

        private static VerbsSide.Patience patience(int retries, int code) {
            return new VerbsSide.Patience(18, 7, retries, code);
        }

        private static SendWorkRequest send(MemoryRegion from) {
            return new SendWorkRequest().from(from, 0, BYTES).signaled();
        }

        private static long count(QueuePair queuePair, String name) {
            return queuePair.counters().getOrDefault(name, -1L);
        }

        private void require(boolean isRight, String what) {
            if (!isRight) {
                wrong.add(what);
            }
        }
    }
}
