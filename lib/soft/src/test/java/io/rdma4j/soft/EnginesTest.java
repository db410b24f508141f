package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.link.Link;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.process.ProcessStack;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Queue pairs of several engines in one process: within an engine, between engines, and with shared objects. */
@Timeout(60)
class EnginesTest {
    private static final int MEMORY_BYTES = 1 << 20;
    private static final int ENTRIES = 1024;

    private final InetAddress address = TestAddresses.loopback();
    private final TestEndpoint first = new TestEndpoint(address, MEMORY_BYTES, ENTRIES, 0);
    private final TestEndpoint second = new TestEndpoint(address, MEMORY_BYTES, ENTRIES, 1);

    @AfterEach
    void close() {
        first.close();
        second.close();
    }

    private static long counter(TestEndpoint endpoint, String name) {
        return endpoint.context.counters().getOrDefault(name, -1L);
    }

    private static QueuePairInitAttributes reliable(CompletionQueue sends, CompletionQueue receives) {
        return QueuePairInitAttributes.reliable(sends, TestEndpoint.CAPABILITIES)
                .withReceiveCompletions(receives);
    }

    /** Runs tasks concurrently and fails if one of them fails. */
    private static void together(List<Callable<Void>> tasks) throws InterruptedException, ExecutionException {
        try (ExecutorService executor =
                Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            for (Future<Void> task : executor.invokeAll(tasks)) {
                task.get();
            }
        }
    }

    @Test
    void deviceHasAVectorForEachProcessorAndAtLeastTwo() {
        int processors = Runtime.getRuntime().availableProcessors();
        assertThat(first.context.completionVectors()).isEqualTo(Math.clamp(processors, 2, 8));
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 0", "1, 1", "0, 0"})
    void writesReadsAndSendsGoBetweenAnyEngines(int vectorA, int vectorB) {
        try (TestEndpoint a = new TestEndpoint(address, MEMORY_BYTES, ENTRIES, vectorA);
                TestEndpoint b = new TestEndpoint(address, MEMORY_BYTES, ENTRIES, vectorB)) {
            TestEndpoint.connect(a, b);
            for (int round = 1; round <= 50; round++) {
                int bytes = 20_000;
                a.memory.asSlice(0, bytes).fill((byte) round);
                b.postReceive(round);
                a.queuePair.postSend(
                        new SendWorkRequest().reset(1).from(a.region, 0, bytes).signaled());
                assertThat(a.completion().isSuccess()).isTrue();
                assertThat(b.completion().isSuccess()).isTrue();
                assertThat(b.memory.asSlice(0, bytes).mismatch(a.memory.asSlice(0, bytes)))
                        .isEqualTo(-1);
                a.queuePair.postWrite(
                        2,
                        a.region,
                        0,
                        bytes,
                        new RemoteMemory(b.region.address() + 100_000, b.region.remoteKey(), bytes));
                a.queuePair.postRead(
                        3,
                        a.region,
                        200_000,
                        bytes,
                        new RemoteMemory(b.region.address() + 100_000, b.region.remoteKey(), bytes));
                assertThat(a.completion().isSuccess()).isTrue();
                assertThat(a.completion().isSuccess()).isTrue();
                assertThat(a.memory.asSlice(200_000, bytes).mismatch(a.memory.asSlice(0, bytes)))
                        .isEqualTo(-1);
            }
        }
    }

    @Test
    void kernelDeliversFramesToTheirEngineIfItCan() {
        TestEndpoint.connect(first, second);
        first.queuePair.postWrite(1, first.region, 0, 64, second.region.remote());
        assertThat(first.completion().isSuccess()).isTrue();
        long before = counter(first, "process_handed_over_pkts");
        for (int i = 0; i < 100; i++) {
            first.queuePair.postWrite(1, first.region, 0, 64, second.region.remote());
            assertThat(first.completion().isSuccess()).isTrue();
        }
        long handedOver = counter(first, "process_handed_over_pkts") - before;
        boolean isSteered = Link.class.getModule().isNativeAccessEnabled(); // otherwise the links are portable ones
        assertThat(handedOver).isBetween(isSteered ? 0L : 100L, isSteered ? 0L : Long.MAX_VALUE); // some twice
        assertThat(counter(first, "process_handover_drops")).isZero();
    }

    @Test
    void waitingThreadIsWokenByItsEngine() {
        TestEndpoint.connect(first, second);
        for (int i = 0; i < 20; i++) {
            second.postReceive(i);
            second.completions.requestNotification(false);
            first.queuePair.postSend(
                    new SendWorkRequest().reset(1).from(first.region, 0, 64).signaled());
            CompletionQueue reported = second.channel.await(Duration.ofSeconds(10));
            assertThat(reported).isSameAs(second.completions);
            second.completions.acknowledgeEvents(1);
            assertThat(second.completion().id()).isEqualTo(i);
            assertThat(first.completion().isSuccess()).isTrue();
        }
    }

    @Test
    void completionQueueGetsEveryCompletionOfTwoEnginesOnce() throws InterruptedException, ExecutionException {
        QueuePair ofSecond = second.domain.createQueuePair(
                QueuePairInitAttributes.reliable(second.completions, TestEndpoint.CAPABILITIES));
        // Its sends complete at the second engine's queue, so that engine drives it. Its receives are reported to the
        // first one.
        QueuePair mixed = first.domain.createQueuePair(
                reliable(first.context.createCompletionQueue(ENTRIES, null, null, 1), first.completions));
        TestEndpoint.connect(first, first.queuePair, second, second.queuePair);
        TestEndpoint.connect(first, mixed, second, ofSecond);
        int each = 2_000;
        together(List.of(
                () -> send(second.queuePair, second, each),
                () -> send(ofSecond, second, each),
                () -> receive(List.of(first.queuePair, mixed), first, each)));
    }

    /** Sends a number of messages; another thread that also sends may take the completions. */
    private static Void send(QueuePair queuePair, TestEndpoint endpoint, int count) {
        WorkCompletion[] some = WorkCompletion.array(16);
        for (int i = 0; i < count; i++) {
            SendWorkRequest request = new SendWorkRequest().reset(i).from(endpoint.region, 0, 64);
            while (true) {
                try {
                    queuePair.postSend(request.signaled());
                    break;
                } catch (RdmaException full) {
                    for (int n = endpoint.completions.poll(some); n > 0; n--) {
                        assertThat(some[n - 1].isSuccess()).isTrue();
                    }
                }
            }
        }
        return null;
    }

    /** Receives a number of messages at each queue pair, in any order, each of them once. */
    private static Void receive(List<QueuePair> queuePairs, TestEndpoint endpoint, int each) {
        int depth = 32;
        BitSet seen = new BitSet();
        int posted = 0;
        WorkCompletion[] some = WorkCompletion.array(16);
        for (; posted < depth; posted++) {
            for (int k = 0; k < queuePairs.size(); k++) {
                queuePairs.get(k).postReceive(receive(endpoint, k, posted));
            }
        }
        int[] next = {posted, posted};
        while (seen.cardinality() < each * queuePairs.size()) {
            int count = endpoint.completions.poll(some);
            for (int i = 0; i < count; i++) {
                assertThat(some[i].isSuccess()).isTrue();
                int id = (int) some[i].id();
                assertThat(seen.get(id)).isFalse();
                seen.set(id);
                int k = id & 1;
                if (next[k] < each) {
                    queuePairs.get(k).postReceive(receive(endpoint, k, next[k]++));
                }
            }
        }
        return null;
    }

    private static ReceiveWorkRequest receive(TestEndpoint endpoint, int queuePair, int number) {
        return new ReceiveWorkRequest().reset(2L * number + queuePair).into(endpoint.region, 64L * queuePair, 64);
    }

    @Test
    void sharedReceivesServeQueuePairsOfTwoEngines() throws InterruptedException, ExecutionException {
        SharedReceiveQueue shared =
                first.domain.createSharedReceiveQueue(new SharedReceiveQueueInitAttributes(64, 1, null, null, null));
        CompletionQueue other = first.context.createCompletionQueue(ENTRIES, null, null, 1);
        QueuePair one = first.domain.createQueuePair(
                QueuePairInitAttributes.reliable(first.completions, TestEndpoint.CAPABILITIES)
                        .withSharedReceiveQueue(shared));
        QueuePair two =
                first.domain.createQueuePair(reliable(other, first.completions).withSharedReceiveQueue(shared));
        QueuePair toTwo = second.domain.createQueuePair(
                QueuePairInitAttributes.reliable(second.completions, TestEndpoint.CAPABILITIES));
        TestEndpoint.connect(first, one, second, second.queuePair);
        TestEndpoint.connect(first, two, second, toTwo);
        int each = 2_000;
        together(List.of(
                () -> send(second.queuePair, second, each),
                () -> send(toTwo, second, each),
                () -> receiveShared(shared, 2 * each)));
    }

    private Void receiveShared(SharedReceiveQueue shared, int total) {
        BitSet seen = new BitSet();
        int posted = 0;
        WorkCompletion[] some = WorkCompletion.array(16);
        while (posted < 64) {
            shared.postReceive(new ReceiveWorkRequest().reset(posted++).into(first.region, 0, 64));
        }
        while (seen.cardinality() < total) {
            int count = first.completions.poll(some);
            for (int i = 0; i < count; i++) {
                assertThat(some[i].isSuccess()).isTrue();
                int id = (int) some[i].id();
                assertThat(seen.get(id)).isFalse();
                seen.set(id);
                if (posted < total) {
                    shared.postReceive(new ReceiveWorkRequest().reset(posted++).into(first.region, 0, 64));
                }
            }
        }
        return null;
    }

    @Test
    void atomicsOfTwoEnginesOnOneWordLoseNothing() throws InterruptedException, ExecutionException {
        try (TestEndpoint target = new TestEndpoint(address, MEMORY_BYTES, ENTRIES, 1);
                TestEndpoint other = new TestEndpoint(address, MEMORY_BYTES, ENTRIES, 0)) {
            QueuePair here = target.domain.createQueuePair(QueuePairInitAttributes.reliable(
                    target.context.createCompletionQueue(ENTRIES, null, null, 0), TestEndpoint.CAPABILITIES));
            TestEndpoint.connect(second, second.queuePair, target, target.queuePair);
            TestEndpoint.connect(other, other.queuePair, target, here);
            int each = 5_000;
            together(List.of(() -> add(second, target, each), () -> add(other, target, each)));
            assertThat(target.memory.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(2L * each);
        }
    }

    private static Void add(TestEndpoint from, TestEndpoint to, int count) {
        int done = 0;
        for (int posted = 0; done < count; ) {
            while (posted < count && posted - done < 16) {
                from.queuePair.postSend(new SendWorkRequest()
                        .reset(posted++)
                        .fetchAndAdd(to.region.address(), to.region.remoteKey(), 1)
                        .from(from.region, 0, 8)
                        .signaled());
            }
            assertThat(from.completion().isSuccess()).isTrue();
            done++;
        }
        return null;
    }

    @Test
    void memoryIsNotWrittenAfterItsRegionIsClosed() throws InterruptedException, ExecutionException {
        TestEndpoint.connect(first, second);
        MemorySegment memory = Arena.ofAuto().allocate(4096, 8);
        for (int round = 0; round < 50; round++) {
            MemoryRegion region = second.domain.register(memory, TestEndpoint.ALL);
            QueuePair from = first.domain.createQueuePair(
                    QueuePairInitAttributes.reliable(first.completions, TestEndpoint.CAPABILITIES));
            QueuePair to = second.domain.createQueuePair(
                    QueuePairInitAttributes.reliable(second.completions, TestEndpoint.CAPABILITIES));
            TestEndpoint.connect(first, from, second, to);
            together(List.of(() -> writeUntilRefused(from, region), () -> {
                Thread.sleep(1); // meanwhile the other thread writes
                region.close();
                memory.fill((byte) 0x55);
                Thread.sleep(2); // a write that is not refused would arrive
                byte[] after = memory.toArray(ValueLayout.JAVA_BYTE);
                for (byte b : after) {
                    assertThat(b).isEqualTo((byte) 0x55);
                }
                return null;
            }));
            from.close();
            to.close();
        }
    }

    private Void writeUntilRefused(QueuePair from, MemoryRegion region) {
        first.memory.asSlice(0, 4096).fill((byte) 0x77);
        while (true) {
            from.postWrite(1, first.region, 0, 4096, region.remote());
            WorkCompletion completion = first.completion();
            if (!completion.isSuccess()) {
                assertThat(completion.status()).isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
                return null;
            }
        }
    }

    @Test
    void overrunFailsQueuePairsOfOtherEngines() throws InterruptedException {
        CompletionQueue small = first.context.createCompletionQueue(2, null, null, 0);
        CompletionQueue other = first.context.createCompletionQueue(16, null, null, 1);
        QueuePair one =
                first.domain.createQueuePair(QueuePairInitAttributes.reliable(small, TestEndpoint.CAPABILITIES));
        QueuePair two = first.domain.createQueuePair(reliable(other, small));
        TestEndpoint.connect(first, one, second, second.queuePair);
        QueuePair peer = second.domain.createQueuePair(
                QueuePairInitAttributes.reliable(second.completions, TestEndpoint.CAPABILITIES));
        TestEndpoint.connect(first, two, second, peer);
        for (int i = 0; i < 3; i++) {
            one.postWrite(i, first.region, 0, 8, second.region.remote());
        }
        assertThat(first.context.awaitAsyncEvent(Duration.ofSeconds(10)))
                .isEqualTo(new AsyncEvent(AsyncEvent.Type.COMPLETION_QUEUE_ERROR, small));
        assertThat(one.state()).isEqualTo(QueuePairState.ERROR);
        for (int tries = 0; two.state() != QueuePairState.ERROR && tries < 1_000; tries++) {
            Thread.sleep(1);
        }
        assertThat(two.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void exitOfTheProcessFailsTheQueuePairsOfAllEngines() {
        TestEndpoint.connect(first, second);
        StackAccess.devices(ProcessStack.stack()).engines().failQueuePairs();
        assertThat(first.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(second.queuePair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void queuePairFailedByProcessExitFlushesAndSendsNothing() {
        TestEndpoint.connect(first, second);
        first.queuePair.postReceive(new ReceiveWorkRequest().reset(1).into(first.region, 0, 64));
        second.queuePair.postReceive(new ReceiveWorkRequest().reset(2).into(second.region, 0, 64));
        StackAccess.devices(ProcessStack.stack()).engines().failQueuePairs();
        assertThat(first.completion().status()).isEqualTo(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        assertThat(second.completion().status()).isEqualTo(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        assertThat(first.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        first.queuePair.postSend(
                new SendWorkRequest().reset(3).from(first.region, 0, 64).signaled());
        assertThat(first.completion().status()).isEqualTo(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
    }
}
