package io.rdma4j.acceptance.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.acceptance.AcceptanceTest;
import io.rdma4j.acceptance.Outcome;
import io.rdma4j.acceptance.Scale;
import io.rdma4j.acceptance.TestStage;
import io.rdma4j.acceptance.process.Child;
import io.rdma4j.acceptance.process.Parent;
import io.rdma4j.acceptance.process.Role;
import io.rdma4j.acceptance.traffic.TrafficSide;
import io.rdma4j.acceptance.traffic.VerbsSide;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.process.ProcessStack;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Two queue pairs write to each other, each from a thread that posts and polls. At a random moment an object is closed:
 * a queue pair, a completion queue, a whole context, or the identifier of a connection.
 *
 * <p>Every close returns. Threads that use a closed object get an exception of the verbs and no other; closing an
 * object that is in use is refused. The memory is freed immediately afterwards, so a later access would crash the
 * process. In the end the device has as many queue pairs as before, and none has failed.
 */
public final class ClosingUnderTraffic implements AcceptanceTest.Body {
    private static final Duration STEP = Duration.ofSeconds(60);

    @Override
    public String required(Scale scale) {
        return "%d rounds: 0 crashes, 0 hangs, 0 wrong exceptions, 0 left".formatted(rounds(scale));
    }

    private static int rounds(Scale scale) {
        return scale.of(1000, 10_000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        long seed = Long.getLong("rdma4j.seed", System.nanoTime());
        Child closer = Child.builder(stage, "closer", Closer.class)
                .with("rounds", rounds(stage.scale()))
                .with("seed", seed)
                .start();
        JsonNode result = closer.await("result", stage.limit());
        long logged = Files.readAllLines(stage.folder().resolve("closer.err")).stream()
                .filter(line -> line.startsWith("\tat "))
                .count();
        String wrong = result.get("wrong").asText();
        long left = result.get("left").asLong();
        long failures = result.get("failures").asLong();
        return Outcome.of(
                wrong.isEmpty() && left == 0 && failures == 0 && logged == 0,
                wrong.isEmpty()
                        ? "%d rounds, %d queue pairs left, %d failed, %s; slowest close %d ms"
                                .formatted(
                                        rounds(stage.scale()),
                                        left,
                                        failures,
                                        logged == 0 ? "no exception in the log" : "exceptions in the log",
                                        result.get("slowestMillis").asLong())
                        : wrong + " of -Drdma4j.seed=" + seed);
    }

    /** The object that is closed. */
    private enum ClosedObject {
        LOCAL_QUEUE_PAIR,
        PEER_QUEUE_PAIR,
        COMPLETION_QUEUE,
        LOCAL_CONTEXT,
        PEER_CONTEXT,
        IDENTIFIER
    }

    /** Runs everything in one process, so both sides share engines, memory and locks. */
    public static final class Closer implements Role {
        private static final InetAddress ADDRESS = InetAddress.getLoopbackAddress();
        private static final int SENDS = 16;
        private static final int BYTES = 8192;
        private static final int MAX_WRITING_NANOS = 300_000;

        /** Connecting takes a millisecond, so only one round of so many uses a connection. */
        private static final int ROUNDS_BETWEEN_CONNECTIONS = 10;

        private static final List<ClosedObject> VERBS_OBJECTS = List.of(
                ClosedObject.LOCAL_QUEUE_PAIR,
                ClosedObject.PEER_QUEUE_PAIR,
                ClosedObject.COMPLETION_QUEUE,
                ClosedObject.LOCAL_CONTEXT,
                ClosedObject.PEER_CONTEXT);
        private static final VerbsSide.RetryParameters SHORT_RETRIES = new VerbsSide.RetryParameters(8, 1, 1, 1);

        private long slowestNanos;

        @Override
        public void run(Parent parent) throws Exception {
            Random random = new Random(parent.number("seed", 0));
            long rounds = parent.number("rounds", 0);
            String wrong = "";
            int before = queuePairs();
            try (ExecutorService threads = Executors.newFixedThreadPool(2)) {
                for (long i = 0; i < rounds && wrong.isEmpty(); i++) {
                    ClosedObject object = i % ROUNDS_BETWEEN_CONNECTIONS == 0
                            ? ClosedObject.IDENTIFIER
                            : VERBS_OBJECTS.get(random.nextInt(VERBS_OBJECTS.size()));
                    try {
                        if (object == ClosedObject.IDENTIFIER) {
                            identifierRound(threads, random);
                        } else {
                            round(threads, random, object);
                        }
                    } catch (Exception e) {
                        e.printStackTrace();
                        wrong = "round %d, %s: %s".formatted(i, object, e);
                    }
                }
            }
            parent.report(
                    "result",
                    Map.of(
                            "wrong",
                            wrong,
                            "left",
                            queuePairs() - before,
                            "failures",
                            StackAccess.devices(ProcessStack.stack())
                                    .engine()
                                    .engines()
                                    .counters()
                                    .queuePairFailures,
                            "slowestMillis",
                            TimeUnit.NANOSECONDS.toMillis(slowestNanos)));
        }

        private static int queuePairs() {
            int count = 0;
            for (Engine engine :
                    StackAccess.devices(ProcessStack.stack()).engine().engines().all()) {
                engine.lock();
                count += engine.queuePairCount();
                engine.unlock();
            }
            return count;
        }

        private void round(ExecutorService threads, Random random, ClosedObject object) throws Exception {
            Arena arena = Arena.ofShared();
            VerbsSide local = new VerbsSide(ADDRESS, 4 * SENDS, random.nextInt(2));
            VerbsSide peer = new VerbsSide(ADDRESS, 4 * SENDS, random.nextInt(2));
            QueuePair localQueuePair = local.queuePair(SENDS, 1);
            QueuePair peerQueuePair = peer.queuePair(SENDS, 1);
            local.connect(localQueuePair, ADDRESS, peerQueuePair.number(), SHORT_RETRIES);
            peer.connect(peerQueuePair, ADDRESS, localQueuePair.number(), SHORT_RETRIES);
            MemoryRegion localRegion = local.domain().register(arena.allocate(2L * BYTES), VerbsSide.ALL);
            MemoryRegion peerRegion = peer.domain().register(arena.allocate(2L * BYTES), VerbsSide.ALL);
            Future<?> writing =
                    threads.submit(() -> write(localQueuePair, local.completions(), localRegion, peerRegion));
            Future<?> peerWriting =
                    threads.submit(() -> write(peerQueuePair, peer.completions(), peerRegion, localRegion));
            LockSupport.parkNanos(random.nextInt(MAX_WRITING_NANOS));
            switch (object) {
                case LOCAL_QUEUE_PAIR -> close(localQueuePair::close);
                case PEER_QUEUE_PAIR -> close(peerQueuePair::close);
                case COMPLETION_QUEUE -> {
                    requireRefusal(local.completions());
                    close(localQueuePair::close);
                    close(local.completions()::close);
                }
                case LOCAL_CONTEXT -> close(local::close);
                default -> close(peer::close);
            }
            close(local::close);
            close(peer::close);
            arena.close();
            writing.get(STEP.toSeconds(), TimeUnit.SECONDS);
            peerWriting.get(STEP.toSeconds(), TimeUnit.SECONDS);
        }

        private static void requireRefusal(CompletionQueue completions) {
            try {
                completions.close();
            } catch (RdmaException inUse) {
                return;
            }
            throw new IllegalStateException("a completion queue with queue pairs can be closed");
        }

        private void identifierRound(ExecutorService threads, Random random) throws Exception {
            try (TrafficSide.Listener listener = new TrafficSide.Listener(new InetSocketAddress(ADDRESS, 0), 1)) {
                Future<TrafficSide> accepting =
                        threads.submit(() -> listener.accept(TrafficSide.Shape.of(SENDS, SENDS, BYTES)));
                TrafficSide client = TrafficSide.connect(
                        new InetSocketAddress(ADDRESS, 0),
                        new InetSocketAddress(ADDRESS, listener.port()),
                        TrafficSide.Shape.of(SENDS, SENDS, BYTES));
                TrafficSide server = accepting.get(STEP.toSeconds(), TimeUnit.SECONDS);
                Future<?> writing = threads.submit(
                        () -> write(client.queuePair(), client.completions(), client.region(), server.region()));
                Future<?> peerWriting = threads.submit(
                        () -> write(server.queuePair(), server.completions(), server.region(), client.region()));
                LockSupport.parkNanos(random.nextInt(MAX_WRITING_NANOS));
                boolean isServerFirst = random.nextBoolean();
                close((isServerFirst ? server : client).id()::close);
                close((isServerFirst ? client : server).id()::close);
                writing.get(STEP.toSeconds(), TimeUnit.SECONDS);
                peerWriting.get(STEP.toSeconds(), TimeUnit.SECONDS);
                client.close();
                server.close();
            }
        }

        private void close(Runnable closing) {
            long begin = System.nanoTime();
            closing.run();
            slowestNanos = Math.max(slowestNanos, System.nanoTime() - begin);
        }

        /** Writes until an object that it needs is closed, or the connection fails. */
        private static void write(
                QueuePair from, CompletionQueue completions, MemoryRegion source, MemoryRegion target) {
            WorkCompletion[] batch = WorkCompletion.array(SENDS);
            long address = target.address();
            int key = target.remoteKey();
            long lastCompleted = System.nanoTime();
            try {
                while (System.nanoTime() - lastCompleted < STEP.toNanos() / 2) {
                    while (post(from, source, address, key)) {
                        // as many as the queue accepts
                    }
                    int count = completions.poll(batch);
                    for (int i = 0; i < count; i++) {
                        if (!batch[i].isSuccess()) {
                            return;
                        }
                    }
                    lastCompleted = count > 0 ? System.nanoTime() : lastCompleted;
                }
            } catch (RdmaException closed) {
                return;
            }
            throw new IllegalStateException("neither a completion nor an exception for " + STEP.toSeconds() / 2 + " s");
        }

        private static boolean post(QueuePair from, MemoryRegion source, long address, int key) {
            try {
                from.postWrite(1, source, 0, BYTES, new RemoteMemory(address, key, BYTES));
                return true;
            } catch (RdmaException refused) {
                if (refused.errno() == Errno.ENOMEM) {
                    return false; // full
                }
                throw refused;
            }
        }
    }
}
