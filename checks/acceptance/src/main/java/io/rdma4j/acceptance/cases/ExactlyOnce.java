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
import io.rdma4j.acceptance.relay.Disturbance;
import io.rdma4j.acceptance.relay.Relay;
import io.rdma4j.acceptance.traffic.TrafficSide;
import io.rdma4j.acceptance.traffic.VerbsSide;
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
 * Four connections increment one number by atomics, increment one number each by compare and swap, and send numbered
 * messages. Meanwhile packets are dropped, duplicated and reordered. At the end every number is exact, and each value
 * before an increment was returned to exactly one connection.
 */
public final class ExactlyOnce implements AcceptanceTest.Body {
    private static final int CONNECTIONS = 4;
    private static final int OUTSTANDING = 64;
    /** FETCH AND ADD, COMPARE AND SWAP and SEND in rotation. */
    private static final int KINDS = 3;

    /** Exponent of 0.27 s, because a busy machine may suspend the relay for longer than eight short timeouts. */
    private static final int ACK_TIMEOUT = 16;

    private static final Duration STEP = Duration.ofSeconds(60);

    private static final Disturbance DISTURBANCE =
            Disturbance.NONE.withLoss(0.05).withDuplicates(0.1, 0).withReordering(0.05, 8);

    @Override
    public String required(Scale scale) {
        return "4 QPs, %d atomics and SENDs at 5 %% loss, 10 %% duplicates, 5 %% reordered: counters exact, each old value once"
                .formatted(operations(scale));
    }

    private static int operations(Scale scale) {
        return scale.of(60_000, 1_000_000);
    }

    @Override
    public Outcome run(TestStage stage) throws Exception {
        long seed = Long.getLong("rdma4j.seed", System.nanoTime());
        Relay relay = Relay.between(stage, seed);
        int rounds = (operations(stage.scale()) + CONNECTIONS * KINDS - 1) / (CONNECTIONS * KINDS);
        Child owner = Child.builder(stage, "keeper", NumberOwner.class)
                .on(relay.hosts().right())
                .with("address", TwoHosts.RIGHT)
                .start();
        Child counter = Child.builder(stage, "counter", Counter.class)
                .on(relay.hosts().left())
                .with("from", TwoHosts.LEFT)
                .with("to", TwoHosts.RIGHT)
                .with("port", owner.await("port", STEP).asInt())
                .with("rounds", rounds)
                .start();
        counter.await("connected", STEP);
        relay.disturb(DISTURBANCE);
        JsonNode counted = counter.ask("go", "result", stage.limit());
        JsonNode values = owner.ask("look", "kept", STEP);
        String wrong = counted.get("wrong").asText() + values.get("wrong").asText();
        if (!wrong.isEmpty()) {
            return Outcome.failed("-Drdma4j.seed=%d: %s".formatted(seed, wrong));
        }
        long each = (long) CONNECTIONS * rounds;
        long sum = values.get("sum").asLong();
        long swapped = values.get("swapped").asLong();
        long received = values.get("received").asLong();
        long distinct = counted.get("distinct").asLong();
        return Outcome.of(
                sum == each && swapped == each && received == each && distinct == each,
                "of %d each: sum %d, %d old values, swaps %d, messages %d; %d dropped, %d duplicated, %d reordered in %d s"
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

    /** Owns the numbers and receives the messages. */
    public static final class NumberOwner implements Role {
        private final MemorySegment sum = Arena.global().allocate(Long.BYTES, Long.BYTES);
        private final List<TrafficSide> sides = Collections.synchronizedList(new ArrayList<>());
        private final List<String> wrong = Collections.synchronizedList(new ArrayList<>());
        private volatile boolean stopping;

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
                        .accept(TrafficSide.Shape.of(4, OUTSTANDING, 8L * (OUTSTANDING + 1)), NumberOwner::prepare);
                sides.add(side);
                threads.add(Thread.ofPlatform().start(() -> received[index] = receive(side)));
                sendSumLocation(side);
            }
            String _ = parent.nextCommand();
            stopping = true;
            for (Thread thread : threads) {
                thread.join();
            }
            Map<String, Object> values = new LinkedHashMap<>();
            values.put("wrong", String.join("; ", wrong));
            values.put("sum", sum.get(ValueLayout.JAVA_LONG, 0));
            values.put(
                    "swapped",
                    sides.stream()
                            .mapToLong(side -> side.region().memory().get(ValueLayout.JAVA_LONG, 0))
                            .sum());
            values.put("received", received[0] + received[1] + received[2] + received[3]);
            parent.report("kept", values);
        }

        private static void prepare(TrafficSide side) {
            for (int i = 1; i <= OUTSTANDING; i++) {
                side.postReceive(i, 8L * i, 8);
            }
        }

        /** The sum is in memory that all connections share, with a remote key for each connection. */
        private void sendSumLocation(TrafficSide side) {
            MemoryRegion region = side.domain().register(sum, VerbsSide.ALL);
            for (long field : new long[] {region.address(), region.remoteKey()}) {
                MemorySegment memory = Arena.ofAuto().allocate(Long.BYTES, Long.BYTES);
                memory.set(ValueLayout.JAVA_LONG, 0, field);
                MemoryRegion message = side.domain().register(memory, VerbsSide.ALL);
                side.queuePair().postSend(new SendWorkRequest().reset(0).from(message));
            }
        }

        /** Receives messages, which are numbered from 0, until stopped. Returns their number. */
        private long receive(TrafficSide side) {
            WorkCompletion[] batch = WorkCompletion.array(OUTSTANDING);
            long next = 0;
            int count = 1;
            while (count > 0 || !stopping) {
                count = side.await(batch, Duration.ofMillis(100));
                for (int i = 0; i < count; i++) {
                    if (!batch[i].isSuccess()) {
                        wrong.add("the receiver: " + batch[i]);
                        return next;
                    }
                    long number = side.region().memory().get(ValueLayout.JAVA_LONG, 8 * batch[i].id());
                    if (number != next++) {
                        wrong.add("message " + number + " was received instead of " + (next - 1));
                    }
                    side.postReceive(batch[i].id(), 8 * batch[i].id(), 8);
                }
            }
            return next;
        }
    }

    /** Changes the numbers and sends the messages. */
    public static final class Counter implements Role {
        private static final Duration WAIT_LIMIT = Duration.ofSeconds(60);

        private final BitSet oldValues = new BitSet();
        private final List<String> wrong = Collections.synchronizedList(new ArrayList<>());

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

        /** One of the four connections. */
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
                        newSide -> {
                            newSide.postReceive(0, 0, 8);
                            newSide.postReceive(1, 8, 8);
                        });
                memory = side.region().memory();
                WorkCompletion[] one = WorkCompletion.array(1);
                for (int i = 0; i < 2; i++) {
                    if (side.await(one, WAIT_LIMIT) == 0 || !one[0].isSuccess()) {
                        throw new IllegalStateException("the sum's location was not received: " + one[0]);
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
                    int polled = side.await(batch, WAIT_LIMIT);
                    if (polled == 0) {
                        wrong.add("no completion for " + WAIT_LIMIT.toSeconds() + " s");
                        return;
                    }
                    for (int i = 0; i < polled; i++) {
                        if (!batch[i].isSuccess() || batch[i].id() != completed || !isValid(completed)) {
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

            /** Returns whether the old value that an atomic returned is plausible. */
            private boolean isValid(long operation) {
                long oldValue = memory.get(ValueLayout.JAVA_LONG, operation % OUTSTANDING * 8);
                if (operation % KINDS == 0) {
                    synchronized (oldValues) {
                        boolean isNew = oldValue >= 0 && oldValue < Integer.MAX_VALUE && !oldValues.get((int) oldValue);
                        oldValues.set((int) Math.max(0, Math.min(oldValue, Integer.MAX_VALUE - 1)));
                        return isNew;
                    }
                }
                return operation % KINDS != 1 || oldValue == operation / KINDS;
            }
        }
    }
}
