package io.rdma4j.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.conformance.device.DirectConnections;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Threads that post, poll and wait concurrently get every completion exactly once. */
@Timeout(90)
class ConcurrentUseTest {
    private static void run(List<Callable<Void>> tasks) throws InterruptedException, ExecutionException {
        try (ExecutorService executor =
                Executors.newThreadPerTaskExecutor(Thread.ofPlatform().factory())) {
            List<Future<Void>> futures = new ArrayList<>();
            for (Callable<Void> task : tasks) {
                futures.add(executor.submit(task));
            }
            for (Future<Void> future : futures) {
                future.get();
            }
        }
    }

    @Test
    void twoThreadsPostToOneQueuePairWhileTwoPollItsCompletions() throws InterruptedException, ExecutionException {
        InetAddress address = TestDevices.freshAddress();
        int each = TestDevices.load(5_000);
        try (TestEndpoint a = new TestEndpoint(address);
                TestEndpoint b = new TestEndpoint(address)) {
            DirectConnections.connect(a, b);
            BitSet seen = new BitSet();
            AtomicInteger posted = new AtomicInteger();
            AtomicInteger completed = new AtomicInteger();
            List<Callable<Void>> tasks = new ArrayList<>();
            for (int t = 0; t < 2; t++) {
                int base = t * each;
                tasks.add(() -> {
                    for (int i = 0; i < each; i++) {
                        // One slot of 64 stays free for each of the two posting threads, which may see the same number.
                        while (posted.get() - completed.get() >= 62) {
                            Thread.onSpinWait();
                        }
                        posted.incrementAndGet();
                        a.queuePair.postWrite(base + i, a.region, 0, 64, b.region.remote());
                    }
                    return null;
                });
                tasks.add(() -> {
                    WorkCompletion[] some = WorkCompletion.array(8);
                    while (completed.get() < 2 * each) {
                        int n = a.completions.poll(some);
                        for (int i = 0; i < n; i++) {
                            assertThat(some[i].isSuccess()).isTrue();
                            synchronized (seen) {
                                assertThat(seen.get((int) some[i].id())).isFalse();
                                seen.set((int) some[i].id());
                            }
                        }
                        completed.addAndGet(n);
                    }
                    return null;
                });
            }
            run(tasks);
            assertThat(seen.cardinality()).isEqualTo(2 * each);
            assertThat(a.completions.poll(WorkCompletion.array(1))).isZero();
        }
    }

    /**
     * One thread polls, another waits for events, each for its own connection. Neither starves or loses completions.
     */
    @Test
    void pollersAndWaitersDoNotHinderEachOther() throws InterruptedException, ExecutionException {
        InetAddress address = TestDevices.freshAddress();
        try (TestEndpoint a = new TestEndpoint(address);
                TestEndpoint b = new TestEndpoint(address);
                TestEndpoint c = new TestEndpoint(address)) {
            DirectConnections.connect(a, b);
            QueuePair extra = b.domain.createQueuePair(
                    QueuePairInitAttributes.reliable(b.completions, TestEndpoint.CAPABILITIES));
            DirectConnections.connect(c, c.queuePair, b, extra);
            List<Callable<Void>> tasks = new ArrayList<>();
            tasks.add(() -> {
                for (int i = 0; i < TestDevices.load(3_000); i++) {
                    a.queuePair.postWrite(i, a.region, 0, 2000, b.region.remote());
                    assertThat(a.completion().id()).isEqualTo(i);
                }
                return null;
            });
            tasks.add(() -> {
                WorkCompletion[] one = WorkCompletion.array(1);
                for (int i = 0; i < TestDevices.load(3_000); i++) {
                    c.completions.requestNotification(false);
                    c.queuePair.postRead(i, c.region, 0, 2000, b.region.remote());
                    CompletionQueue reported = c.channel.await(Duration.ofSeconds(20));
                    assertThat(reported).as("event %d", i).isNotNull();
                    c.completions.acknowledgeEvents(1);
                    assertThat(c.completions.poll(one)).isOne();
                    assertThat(one[0].id()).isEqualTo(i);
                }
                return null;
            });
            run(tasks);
        }
    }

    @Test
    void manyQueuePairsAreServedInTurn() {
        InetAddress address = TestDevices.freshAddress();
        int pairs = TestDevices.load(300);
        int each = 20;
        try (TestEndpoint a = new TestEndpoint(address, 4096, 16_384);
                TestEndpoint b = new TestEndpoint(address, 4096, 16_384)) {
            QueuePairCapabilities small = new QueuePairCapabilities(each, 1, 1, 1, 0);
            MemoryRegion big = a.domain.register(Arena.ofAuto().allocate(100_000), TestEndpoint.ALL);
            MemoryRegion target = b.domain.register(Arena.ofAuto().allocate(100_000), TestEndpoint.ALL);
            List<QueuePair> left = new ArrayList<>();
            for (int i = 0; i < pairs; i++) {
                QueuePair l = a.domain.createQueuePair(QueuePairInitAttributes.reliable(a.completions, small));
                QueuePair r = b.domain.createQueuePair(QueuePairInitAttributes.reliable(b.completions, small));
                DirectConnections.connect(a, l, b, r);
                left.add(l);
            }
            for (int n = 0; n < each; n++) {
                for (int i = 0; i < pairs; i++) {
                    int bytes = i == 0 ? 100_000 : 100;
                    left.get(i).postWrite(n * 1000L + i, big, 0, bytes, target.remote());
                }
            }
            BitSet seen = new BitSet();
            for (int i = 0; i < pairs * each; i++) {
                WorkCompletion completion = a.completion();
                assertThat(completion.isSuccess()).isTrue();
                assertThat(seen.get((int) completion.id())).isFalse();
                seen.set((int) completion.id());
            }
        }
    }
}
