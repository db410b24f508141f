package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PlacementType;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SelectivityLevel;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Psn;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Random operations of both sides over a wire that loses, duplicates and reorders packets. A failure names its seed.
 * The system property {@code rdma4j.soak.seed} runs that seed alone; {@code rdma4j.soak.runs} sets the number of seeds.
 */
class RcSoakTest {
    private static final int CONSTANT = 40_000;
    private static final int WRITABLE = 40_000;
    private static final int COUNTERS = 64;
    private static final int CANARY = 64;
    private static final int OPERATIONS = 30;

    /** The operations of one side, and the memory contents and messages expected from them. */
    private static final class Workload {
        final Pair.Side side;
        final Random random;
        final byte[] constantBytes;
        final MemoryRegion constant;
        final MemoryRegion writable;
        final MemoryRegion counters;
        final MemoryRegion results;
        final byte[] expectedWritable = new byte[WRITABLE];
        final long[] expectedCounters = new long[COUNTERS / 8];
        final byte[] expectedResults;
        final List<byte[]> expectedMessages = new ArrayList<>();
        final List<Boolean> messageIsWrite = new ArrayList<>();
        final List<MemoryRegion> receives = new ArrayList<>();
        int posted;

        Workload(Pair.Side side, Random random) {
            this.side = side;
            this.random = random;
            constantBytes = Pair.pattern(CONSTANT, random.nextInt());
            constant = side.memory.register(
                    MemorySegment.ofArray(constantBytes), 0x10_0000, AccessFlag.REMOTE_READ.bit(), Pair.PD);
            writable = side.memory.register(
                    MemorySegment.ofArray(new byte[WRITABLE]), 0x20_0000, Pair.ALL_ACCESS, Pair.PD);
            counters = side.memory.register(
                    MemorySegment.ofArray(new byte[COUNTERS]), 0x30_0000, Pair.ALL_ACCESS, Pair.PD);
            results = side.register(new byte[OPERATIONS * (CONSTANT + CANARY)], AccessFlag.LOCAL_WRITE.bit());
            expectedResults = new byte[OPERATIONS * (CONSTANT + CANARY)];
        }
    }

    private static int size(Random random) {
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt(9);
            case 1 -> random.nextInt(1500);
            case 2 -> 256 * random.nextInt(20);
            default -> random.nextInt(CONSTANT);
        };
    }

    private static void postOne(Workload sender, Workload receiver) {
        Random random = sender.random;
        SendOpcode[] kinds = SendOpcode.values();
        SendOpcode kind = kinds[random.nextInt(kinds.length)];
        if (kind == SendOpcode.SEND_WITH_INVALIDATE || kind.isLocal()) {
            kind = SendOpcode.SEND; // these operations have their own tests; an invalidation would end the connection
        }
        SendRequest r = sender.side.claim(sender.posted, kind);
        r.signaled = true;
        r.fence = random.nextInt(4) == 0;
        int length = kind.isAtomic() ? 8 : size(random);
        int from = random.nextInt(CONSTANT - length + 1);
        r.immediate = sender.posted;
        if (kind.carriesPayload()) {
            int cut = random.nextInt(length + 1);
            r.list.add(sender.constant, from, cut);
            r.list.add(sender.constant, from + cut, length - cut);
        } else if (kind.hasLocalMemory()) {
            r.list.add(sender.results, (long) sender.posted * (CONSTANT + CANARY), length);
        }
        byte[] message = Arrays.copyOfRange(sender.constantBytes, from, from + length);
        switch (kind) {
            case RDMA_WRITE, RDMA_WRITE_WITH_IMMEDIATE -> {
                int to = random.nextInt(WRITABLE - length + 1);
                r.remoteKey = receiver.writable.key();
                r.remoteAddress = receiver.writable.address() + to;
                System.arraycopy(message, 0, receiver.expectedWritable, to, length);
            }
            case RDMA_READ -> {
                r.remoteKey = receiver.constant.key();
                r.remoteAddress = receiver.constant.address() + from;
                System.arraycopy(
                        receiver.constantBytes,
                        from,
                        sender.expectedResults,
                        sender.posted * (CONSTANT + CANARY),
                        length);
            }
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> {
                int cell = random.nextInt(COUNTERS / 8);
                r.remoteKey = receiver.counters.key();
                r.remoteAddress = receiver.counters.address() + cell * 8L;
                r.swapOrAdd = random.nextInt();
                long old = receiver.expectedCounters[cell];
                r.compare = random.nextBoolean() ? old : old + 1;
                ByteBuffer.wrap(sender.expectedResults)
                        .order(ByteOrder.nativeOrder())
                        .putLong(sender.posted * (CONSTANT + CANARY), old);
                if (kind == SendOpcode.FETCH_AND_ADD) {
                    receiver.expectedCounters[cell] += r.swapOrAdd;
                } else if (r.compare == old) {
                    receiver.expectedCounters[cell] = r.swapOrAdd;
                }
            }
            case ATOMIC_WRITE -> {
                int cell = random.nextInt(COUNTERS / 8);
                r.remoteKey = receiver.counters.key();
                r.remoteAddress = receiver.counters.address() + cell * 8L;
                r.swapOrAdd = random.nextLong();
                receiver.expectedCounters[cell] = r.swapOrAdd;
            }
            case FLUSH -> {
                r.flushPlacement = PlacementType.GLOBAL.bit();
                r.flushSelectivity =
                        random.nextBoolean() ? SelectivityLevel.RANGE.code() : SelectivityLevel.REGION.code();
                r.remoteKey = receiver.writable.key();
                r.remoteAddress = receiver.writable.address();
                r.flushBytes = length;
            }
            default -> {}
        }
        if (kind != SendOpcode.RDMA_WRITE && kind.carriesPayload()) {
            sender.expectedMessages.add(message);
            sender.messageIsWrite.add(kind == SendOpcode.RDMA_WRITE_WITH_IMMEDIATE);
        }
        sender.side.publish(r);
        sender.posted++;
    }

    private static void postReceive(Workload w) {
        MemoryRegion region = w.side.register(new byte[CONSTANT], AccessFlag.LOCAL_WRITE.bit());
        w.side.postReceive(w.receives.size(), region, 0, CONSTANT);
        w.receives.add(region);
    }

    private static Pair.Wire wire(Random random, double loss, double duplication, double reordering) {
        return w -> {
            List<Long> copies = new ArrayList<>();
            int count = random.nextDouble() < duplication ? 2 : 1;
            for (int i = 0; i < count; i++) {
                if (random.nextDouble() >= loss) {
                    boolean late = random.nextDouble() < reordering;
                    copies.add(Pair.LATENCY_NANOS + (late ? random.nextInt(100_000) : 0));
                }
            }
            return copies;
        };
    }

    private static Pair.Options options(Random random) {
        Pair.Options o = new Pair.Options();
        o.mtu = 256 << random.nextInt(3);
        o.psnA = random.nextBoolean() ? Psn.MASK - random.nextInt(200) : random.nextInt(Psn.COUNT);
        o.psnB = random.nextBoolean() ? Psn.MASK - random.nextInt(200) : random.nextInt(Psn.COUNT);
        o.depth = 1 + random.nextInt(8);
        o.destinationDepth = o.depth;
        o.rnrCode = 1 + random.nextInt(20);
        return o;
    }

    /** Runs one seed and returns whether both sides are still connected. */
    private static boolean run(long seed, double loss, double duplication, double reordering) {
        Random random = new Random(seed);
        Pair p = new Pair(options(random));
        p.burst = random.nextBoolean() ? Integer.MAX_VALUE : 1 + random.nextInt(10);
        p.wire = wire(random, loss, duplication, reordering);
        Workload a = new Workload(p.a, random);
        Workload b = new Workload(p.b, random);
        while (a.posted < OPERATIONS || b.posted < OPERATIONS) {
            Workload w = random.nextBoolean() ? a : b;
            Workload other = w == a ? b : a;
            if (w.posted < OPERATIONS) {
                postOne(w, other);
            }
            if (random.nextInt(3) > 0) {
                postReceive(w);
            }
            p.run(p.now + random.nextInt(200_000));
        }
        while (a.receives.size() < b.expectedMessages.size() || b.receives.size() < a.expectedMessages.size()) {
            Workload w = a.receives.size() < b.expectedMessages.size() ? a : b;
            postReceive(w);
            p.run(p.now + random.nextInt(200_000));
        }
        p.run();
        boolean isAlive = isAlive(p.a) && isAlive(p.b);
        if (isAlive) {
            checkComplete(a);
            checkComplete(b);
        } else {
            checkGivenUp(a);
            checkGivenUp(b);
        }
        check(a, b);
        check(b, a);
        return isAlive;
    }

    private static boolean isAlive(Pair.Side side) {
        return side.queuePair.state() == QueuePairState.READY_TO_SEND;
    }

    private static void checkComplete(Workload w) {
        assertThat(w.side.statuses(false))
                .containsOnly(CompletionStatus.SUCCESS)
                .hasSize(OPERATIONS);
        assertThat(w.writable.memory().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(w.expectedWritable);
        assertThat(w.counters.memory().toArray(ValueLayout.JAVA_LONG_UNALIGNED)).isEqualTo(w.expectedCounters);
        assertThat(w.results.memory().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(w.expectedResults);
    }

    /** Checks a side after all seven retries were lost: successes, one exceeded retry counter, the rest flushed. */
    private static void checkGivenUp(Workload w) {
        List<CompletionStatus> statuses = w.side.statuses(false);
        int successes = (int)
                statuses.stream().filter(s -> s == CompletionStatus.SUCCESS).count();
        assertThat(statuses.subList(0, successes)).doesNotContain(CompletionStatus.RETRY_EXCEEDED_ERROR);
        if (!isAlive(w.side)) {
            assertThat(statuses).hasSize(OPERATIONS);
            assertThat(statuses.get(successes)).isEqualTo(CompletionStatus.RETRY_EXCEEDED_ERROR);
            assertThat(statuses.subList(successes + 1, OPERATIONS))
                    .allMatch(s -> s == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        }
        assertThat(w.results
                        .memory()
                        .asSlice(0, (long) successes * (CONSTANT + CANARY))
                        .toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(Arrays.copyOf(w.expectedResults, successes * (CONSTANT + CANARY)));
    }

    private static void check(Workload w, Workload peer) {
        assertThat(w.side.ids(false)).isSorted();
        List<Pair.Done> received =
                w.side.done.stream().filter(Pair.Done::isReceive).toList();
        if (isAlive(w.side) && isAlive(peer.side)) {
            assertThat(received).hasSameSizeAs(peer.expectedMessages);
        }
        for (int i = 0; i < received.size(); i++) {
            Pair.Done d = received.get(i);
            assertThat(d.id()).isEqualTo(i);
            if (d.status() == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR && !isAlive(w.side)) {
                continue;
            }
            byte[] message = peer.expectedMessages.get(i);
            assertThat(d.status()).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(d.bytes()).isEqualTo(message.length);
            assertThat(d.ofWrite()).isEqualTo(peer.messageIsWrite.get(i));
            byte[] expected = d.ofWrite() ? new byte[CONSTANT] : Arrays.copyOf(message, CONSTANT);
            assertThat(w.receives.get(i).memory().toArray(ValueLayout.JAVA_BYTE))
                    .isEqualTo(expected);
        }
        assertThat(w.side.queuePair.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(w.side.events).isEmpty();
        QueuePairCounters c = w.side.queuePair.counters();
        assertThat(c.processedPackets + c.droppedPackets).isEqualTo(c.receivedPackets);
    }

    @ParameterizedTest
    @CsvSource({"0, 0, 0", "0.01, 0, 0", "0, 0.2, 0", "0, 0, 0.2", "0.05, 0.05, 0.05", "0.2, 0.1, 0.1"})
    void everyByteArrivesOnceAndInOrderOverAFaultyWire(double loss, double duplication, double reordering) {
        long only = Long.getLong("rdma4j.soak.seed", -1);
        int runs = Integer.getInteger("rdma4j.soak.runs", 40);
        int givenUp = 0;
        for (long seed = Math.max(0, only); seed < (only >= 0 ? only + 1 : runs); seed++) {
            try {
                givenUp += run(seed, loss, duplication, reordering) ? 0 : 1;
            } catch (AssertionError | RuntimeException e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
        assertThat(givenUp).as("runs given up").isLessThanOrEqualTo(loss < 0.1 ? 0 : 1 + runs / 20);
    }
}
