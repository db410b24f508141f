package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.harness.RunningProcess;
import io.rdma4j.harness.Stage;
import io.rdma4j.soft.SoftStack;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * {@code rdma4j top} reads the counters of a process with many queue pairs, some of which are constantly created and
 * closed, while one is queried. A query takes the engine's lock, so it waits for everything that delays the engine. The
 * time during which the thread was ready to run but had no processor is not part of the wait, since {@code rdma4j top}
 * also needs a processor.
 */
public final class WatchedQueuePairs implements AcceptanceTest.Body {
    private static final Duration START = Duration.ofMinutes(2);
    private static final int QUEUE_PAIRS = 10_000;
    private static final long MAX_MICROS = 5000;

    @Override
    public String required(Scale scale) {
        return QUEUE_PAIRS
                + " queue pairs, others created and closed, rdma4j top every 100 ms: no query waits for more than"
                + " 5 ms, or than without rdma4j top";
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        int seconds = stage.scale().of(4, 60);
        Child holder = Child.builder(stage, "holder", Holder.class).start();
        stage.progress("creating " + QUEUE_PAIRS + " queue pairs");
        holder.await("ready", START);
        JsonNode _ = query(holder, seconds); // until code is compiled
        JsonNode alone = query(holder, seconds);
        stage.progress("rdma4j top");
        RunningProcess top = stage.start("top", top(), stage.limit());
        boolean isShown =
                Stage.holdsWithin(START, () -> top.prints("more queue pairs, which the processes did not report"));
        JsonNode watched = query(holder, seconds);
        top.end("TERM");
        long slowest = watched.get("slowestMicros").asLong();
        long slowestAlone = alone.get("slowestMicros").asLong();
        return Outcome.of(
                isShown,
                slowest <= Math.max(MAX_MICROS, slowestAlone),
                "%d queries, slowest %d µs (%d µs without rdma4j top), %d above 5 ms (%d); with the wait for a processor %d µs (%d)"
                        .formatted(
                                watched.get("queries").asInt(),
                                slowest,
                                slowestAlone,
                                watched.get("above").asInt(),
                                alone.get("above").asInt(),
                                watched.get("slowestInAllMicros").asLong(),
                                alone.get("slowestInAllMicros").asLong()));
    }

    private static JsonNode query(Child holder, int seconds) throws IOException, InterruptedException {
        return holder.ask(Integer.toString(seconds), "done", Duration.ofSeconds(seconds + 60));
    }

    private static List<String> top() {
        List<String> words = new ArrayList<>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(List.of("-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED"));
        words.addAll(List.of("-cp", System.getProperty("java.class.path", "."), "io.rdma4j.tools.Main"));
        words.addAll(List.of("top", "-d", "0.1", "-n", "100000"));
        return words;
    }

    /**
     * Holds the queue pairs. A command is a number of seconds; during that time one queue pair is queried, and others are created and
     * closed.
     */
    public static final class Holder implements Role {
        private static final QueuePairCapabilities SIZES = new QueuePairCapabilities(4, 4, 1, 1, 0);

        @Override
        public void run(Parent parent) throws IOException, InterruptedException {
            SoftStack stack = SoftStack.create();
            DeviceContext context = stack.devices().getFirst().open();
            ProtectionDomain domain = context.createProtectionDomain();
            CompletionQueue completions = context.createCompletionQueue(1000);
            QueuePairInitAttributes attributes =
                    QueuePairInitAttributes.of(QueuePairType.RELIABLE_CONNECTION, completions, SIZES);
            List<QueuePair> queuePairs = new ArrayList<>();
            for (int i = 0; i < QUEUE_PAIRS; i++) {
                queuePairs.add(domain.createQueuePair(attributes));
            }
            parent.report("ready", 1);
            while (true) {
                int seconds = Integer.parseInt(parent.nextCommand());
                AtomicBoolean isOver = new AtomicBoolean();
                Thread churn = Thread.ofPlatform().start(() -> {
                    while (!isOver.get()) {
                        domain.createQueuePair(attributes).close();
                        pause();
                    }
                });
                Map<String, Object> done = query(queuePairs.getFirst(), seconds);
                isOver.set(true);
                churn.join();
                parent.report("done", done);
            }
        }

        private static void pause() {
            try {
                Thread.sleep(1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        private static Map<String, Object> query(QueuePair queuePair, int seconds) throws InterruptedException {
            long slowestNanos = 0;
            long slowestInAllNanos = 0;
            int queries = 0;
            int above = 0;
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
            while (System.nanoTime() < end) {
                long delayNanos = processorDelayNanos();
                long begin = System.nanoTime();
                var _ = queuePair.query();
                long inAll = System.nanoTime() - begin;
                long took = Math.max(0, inAll - (processorDelayNanos() - delayNanos));
                slowestInAllNanos = Math.max(slowestInAllNanos, inAll);
                slowestNanos = Math.max(slowestNanos, took);
                above += took > MAX_MICROS * 1000 ? 1 : 0;
                queries++;
                Thread.sleep(0, 200_000);
            }
            return Map.of(
                    "queries",
                    queries,
                    "slowestMicros",
                    slowestNanos / 1000,
                    "slowestInAllMicros",
                    slowestInAllNanos / 1000,
                    "above",
                    above);
        }

        /**
         * Returns how long the current thread has waited for a processor since its start; 0 if the system does not
         * report it.
         */
        private static long processorDelayNanos() {
            try {
                return Long.parseLong(
                        Files.readString(Path.of("/proc/thread-self/schedstat")).split(" ", -1)[1]);
            } catch (IOException notCounted) {
                return 0;
            }
        }
    }
}
