package io.rdma4j.faults.cases;

import com.fasterxml.jackson.databind.JsonNode;
import io.rdma4j.faults.AcceptanceTest;
import io.rdma4j.faults.Outcome;
import io.rdma4j.faults.Scale;
import io.rdma4j.faults.TestStage;
import io.rdma4j.faults.hosts.TwoHosts;
import io.rdma4j.faults.process.Child;
import io.rdma4j.faults.process.Parent;
import io.rdma4j.faults.process.Role;
import io.rdma4j.faults.relay.Disturbance;
import io.rdma4j.faults.relay.Relay;
import io.rdma4j.faults.traffic.TrafficSide;
import io.rdma4j.faults.traffic.VerbsSide;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * 2: four connections add one to the same number, count a number of their own up by compare and swap, and send messages with
 * consecutive numbers, while packets are lost, come twice and overtake one another. At the end every number is exact, and every
 * value before an addition was returned to exactly one of the four.
 */
public final class ExactlyOnce implements AcceptanceTest {
    private static final int CONNECTIONS = 4;
    private static final int OUTSTANDING = 64;
    /** FETCH AND ADD, COMPARE AND SWAP, SEND, in turns. */
    private static final int KINDS = 3;

    /** Exponent of 0.27 s: a machine that does other things may hold the relay back for longer than eight short ones. */
    private static final int ACK_TIMEOUT = 16;

    private static final Duration STEP = Duration.ofSeconds(60);

    private static final Disturbance DISTURBANCE =
            Disturbance.NONE.withLoss(0.05).withDuplicates(0.1, 0).withReordering(0.05, 8);

    /** Creates the test. */
    public ExactlyOnce() {}

    @Override
    public int number() {
        return 2;
    }

    @Override
    public String title() {
        return "exactly once";
    }

    @Override
    public String required(Scale scale) {
        return "4 QPs, %d atomics and SENDs at 5 %% loss, 10 %% duplicates, 5 %% reordered: counters exact, each old value once"
                .formatted(operations(scale));
    }

    private static int operations(Scale scale) {
        return scale.of(60_000, 1_000_000);
    }

    @Override
    public boolean needsRoot() {
        return true;
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        long seed = Long.getLong("rdma4j.seed", System.nanoTime());
        Relay relay = Relay.between(stage, seed);
        int rounds = (operations(stage.scale()) + CONNECTIONS * KINDS - 1) / (CONNECTIONS * KINDS);
        Child keeper = Child.builder(stage, "keeper", Keeper.class)
                .on(relay.hosts().right())
                .with("address", TwoHosts.RIGHT)
                .start();
        Child counter = Child.builder(stage, "counter", Counter.class)
                .on(relay.hosts().left())
                .with("from", TwoHosts.LEFT)
                .with("to", TwoHosts.RIGHT)
                .with("port", keeper.await("port", STEP).asInt())
                .with("rounds", rounds)
                .start();
        counter.await("connected", STEP);
        relay.disturb(DISTURBANCE);
        JsonNode counted = counter.ask("go", "result", Duration.ofSeconds(limitSeconds(stage.scale())));
        JsonNode kept = keeper.ask("look", "kept", STEP);
        String wrong = counted.get("wrong").asText() + kept.get("wrong").asText();
        if (!wrong.isEmpty()) {
            return Outcome.failed("-Drdma4j.seed=%d: %s".formatted(seed, wrong));
        }
        long each = (long) CONNECTIONS * rounds;
        long sum = kept.get("sum").asLong();
        long swapped = kept.get("swapped").asLong();
        long received = kept.get("received").asLong();
        long distinct = counted.get("distinct").asLong();
        return Outcome.of(
                sum == each && swapped == each && received == each && distinct == each,
                "of %d each: sum %d, %d old values, swaps %d, messages %d; %d lost, %d twice, %d overtaken in %d s"
                        .formatted(
                                each,
                                sum,
                                distinct,
                                swapped,
                                received,
                                relay.count("lost"),
                                relay.count("duplicated"),
                                relay.count("reordered"),
                                counted.get("millis").asLong() / 1000));
    }

    /** Whose numbers are changed, and who receives the messages. */
    public static final class Keeper implements Role {
        private final MemorySegment sum = Arena.global().allocate(Long.BYTES, Long.BYTES);
        private final List<TrafficSide> sides = Collections.synchronizedList(new ArrayList<>());
        private final List<String> wrong = Collections.synchronizedList(new ArrayList<>());
        private volatile boolean ends;

        /** Creates the role. */
        public Keeper() {}

        @Override
        public void run(Parent parent) throws IOException, InterruptedException {
            TrafficSide.Listener listener =
                    new TrafficSide.Listener(new InetSocketAddress(parent.text("address", "127.0.0.1"), 0), 16);
            parent.report("port", listener.port());
            List<Thread> threads = new ArrayList<>();
            long[] received = new long[CONNECTIONS];
            for (int i = 0; i < CONNECTIONS; i++) {
                int index = i;
                TrafficSide side = listener.request()
                        .accept(TrafficSide.Shape.of(4, OUTSTANDING, 8L * (OUTSTANDING + 1)), Keeper::prepare);
                sides.add(side);
                threads.add(Thread.ofPlatform().start(() -> received[index] = receive(side)));
                tellSum(side);
            }
            String _ = parent.nextCommand();
            ends = true;
            for (Thread thread : threads) {
                thread.join();
            }
            Map<String, Object> kept = new LinkedHashMap<>();
            kept.put("wrong", String.join("; ", wrong));
            kept.put("sum", sum.get(ValueLayout.JAVA_LONG, 0));
            kept.put(
                    "swapped",
                    sides.stream()
                            .mapToLong(side -> side.region().memory().get(ValueLayout.JAVA_LONG, 0))
                            .sum());
            kept.put("received", received[0] + received[1] + received[2] + received[3]);
            parent.report("kept", kept);
        }

        private static void prepare(TrafficSide side) {
            for (int i = 1; i <= OUTSTANDING; i++) {
                side.postReceive(i, 8L * i, 8);
            }
        }

        /** The sum is in memory that all connections share: each has a key of its own for it. */
        private void tellSum(TrafficSide side) {
            MemoryRegion region = side.domain().register(sum, VerbsSide.ALL);
            for (long word : new long[] {region.address(), region.remoteKey()}) {
                MemorySegment memory = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
                memory.set(ValueLayout.JAVA_LONG, 0, word);
                MemoryRegion message = side.domain().register(memory, VerbsSide.ALL);
                side.queuePair().postSend(new SendWorkRequest().reset(0).from(message));
            }
        }

        /** Messages until the end; they are numbered from 0. */
        private long receive(TrafficSide side) {
            WorkCompletion[] batch = WorkCompletion.array(OUTSTANDING);
            long next = 0;
            int count = 1;
            while (count > 0 || !ends) {
                count = side.await(batch, Duration.ofMillis(100));
                for (int i = 0; i < count; i++) {
                    if (!batch[i].isSuccess()) {
                        wrong.add("the receiver: " + batch[i]);
                        return next;
                    }
                    long number = side.region().memory().get(ValueLayout.JAVA_LONG, 8 * batch[i].id());
                    if (number != next++) {
                        wrong.add("message " + number + " came in the place of " + (next - 1));
                    }
                    side.postReceive(batch[i].id(), 8 * batch[i].id(), 8);
                }
            }
            return next;
        }
    }

    /** Who changes them. */
    public static final class Counter implements Role {
        private static final Duration PATIENCE = Duration.ofSeconds(60);

        private final BitSet oldValues = new BitSet();
        private final List<String> wrong = Collections.synchronizedList(new ArrayList<>());

        /** Creates the role. */
        public Counter() {}

        @Override
        public void run(Parent parent) throws IOException, InterruptedException {
            InetSocketAddress from = new InetSocketAddress(parent.text("from", "127.0.0.1"), 0);
            InetSocketAddress to =
                    new InetSocketAddress(parent.text("to", "127.0.0.1"), (int) parent.number("port", 0));
            long rounds = parent.number("rounds", 1);
            List<Connection> connections = new ArrayList<>();
            for (int i = 0; i < CONNECTIONS; i++) {
                connections.add(new Connection(from, to));
            }
            parent.report("connected", 1);
            String _ = parent.nextCommand();
            long begin = System.nanoTime();
            List<Thread> threads = new ArrayList<>();
            for (Connection connection : connections) {
                threads.add(Thread.ofPlatform().start(() -> connection.count(rounds)));
            }
            for (Thread thread : threads) {
                thread.join();
            }
            Map<String, Object> result = new LinkedHashMap<>();
            result.put("wrong", String.join("; ", wrong));
            result.put("distinct", oldValues.cardinality());
            result.put("millis", (System.nanoTime() - begin) / 1_000_000);
            parent.report("result", result);
            String _ = parent.nextCommand();
        }

        /** One of the four. */
        private final class Connection {
            private final TrafficSide side;
            private final MemorySegment memory;
            private final long sumAddress;
            private final int sumKey;
            private final SendWorkRequest request = new SendWorkRequest();

            Connection(InetSocketAddress from, InetSocketAddress to) {
                side = TrafficSide.connect(
                        from,
                        to,
                        TrafficSide.Shape.of(OUTSTANDING, 4, 8L * OUTSTANDING).withAckTimeout(ACK_TIMEOUT),
                        fresh -> {
                            fresh.postReceive(0, 0, 8);
                            fresh.postReceive(1, 8, 8);
                        });
                memory = side.region().memory();
                WorkCompletion[] one = WorkCompletion.array(1);
                for (int i = 0; i < 2; i++) {
                    if (side.await(one, PATIENCE) == 0 || !one[0].isSuccess()) {
                        throw new IllegalStateException("no greeting: " + one[0]);
                    }
                }
                sumAddress = memory.get(ValueLayout.JAVA_LONG, 0);
                sumKey = (int) memory.get(ValueLayout.JAVA_LONG, 8);
            }

            void count(long rounds) {
                WorkCompletion[] batch = WorkCompletion.array(OUTSTANDING);
                long operations = rounds * KINDS;
                long posted = 0;
                long completed = 0;
                while (completed < operations) {
                    while (posted < operations && posted - completed < OUTSTANDING) {
                        post(posted++);
                    }
                    int some = side.await(batch, PATIENCE);
                    if (some == 0) {
                        wrong.add("nothing for " + PATIENCE.toSeconds() + " s");
                        return;
                    }
                    for (int i = 0; i < some; i++) {
                        if (!batch[i].isSuccess() || batch[i].id() != completed || !take(completed)) {
                            wrong.add("operation " + completed + ": " + batch[i]);
                            return;
                        }
                        completed++;
                    }
                }
            }

            private void post(long operation) {
                long number = operation / KINDS;
                long at = operation % OUTSTANDING * 8;
                request.reset(operation).from(side.region(), at, 8).signaled();
                switch ((int) (operation % KINDS)) {
                    case 0 -> request.fetchAndAdd(sumAddress, sumKey, 1);
                    case 1 -> request.compareAndSwap(side.remoteAddress(), side.remoteKey(), number, number + 1);
                    default -> memory.set(ValueLayout.JAVA_LONG, at, number);
                }
                side.queuePair().postSend(request);
            }

            /** Whether the old value that an atomic returned can be right. */
            private boolean take(long operation) {
                long old = memory.get(ValueLayout.JAVA_LONG, operation % OUTSTANDING * 8);
                if (operation % KINDS == 0) {
                    synchronized (oldValues) {
                        boolean isFresh = old >= 0 && old < Integer.MAX_VALUE && !oldValues.get((int) old);
                        oldValues.set((int) Math.max(0, Math.min(old, Integer.MAX_VALUE - 1)));
                        return isFresh;
                    }
                }
                return operation % KINDS != 1 || old == operation / KINDS;
            }
        }
    }
}
