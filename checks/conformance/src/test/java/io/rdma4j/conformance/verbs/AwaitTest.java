package io.rdma4j.conformance.verbs;

import static io.rdma4j.conformance.device.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.rdma4j.conformance.device.DirectConnections;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A thread that waits for a completion queue gets its completions, and learns why there are none. */
@Timeout(60)
class AwaitTest {
    private static final Duration SHORT = Duration.ofMillis(50);
    private static final Duration LONG = Duration.ofDays(1);
    private static final long PATIENCE_SECONDS = 20;

    /** The {@link #outcome} of a wait for a queue that is closed. */
    private static final String CLOSED = ClosedException.class.getSimpleName() + " ibv_get_cq_event " + Errno.EINVAL;

    private TestEndpoint a;
    private TestEndpoint b;

    @BeforeEach
    void connect() {
        a = new TestEndpoint(TestDevices.freshAddress());
        b = new TestEndpoint(TestDevices.peerOf(a.address));
        DirectConnections.connect(a, b);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    /** Sends a message, whose receive has a number. */
    private void send(long number) {
        b.queuePair.postReceive(new ReceiveWorkRequest().reset(number).into(b.region, 0, 64));
        a.queuePair.postSend(SendWorkRequest.send(2, a.region, 0, 64));
    }

    private static <T> CompletableFuture<T> inThread(boolean virtual, Supplier<T> work) {
        Executor executor =
                task -> (virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(task);
        return CompletableFuture.supplyAsync(work, executor);
    }

    /** Starts work in a thread, and waits until it blocks. */
    private static <T> CompletableFuture<T> blockedInThread(boolean virtual, Supplier<T> work)
            throws InterruptedException {
        CompletableFuture<Thread> thread = new CompletableFuture<>();
        CompletableFuture<T> result = inThread(virtual, () -> {
            thread.complete(Thread.currentThread());
            return work.get();
        });
        BlockedThread.await(thread.join());
        return result;
    }

    /** Returns what a wait throws, and whether its thread is interrupted then. */
    private static String outcome(Runnable wait) {
        try {
            wait.run();
            return "returned";
        } catch (RdmaException e) {
            return e.getClass().getSimpleName() + " " + e.operation() + " " + e.errno()
                    + (Thread.currentThread().isInterrupted() ? ", interrupted" : "");
        }
    }

    @Test
    void completionsThatAreThereAreReturnedAtOnce() {
        send(7);
        send(8);
        WorkCompletion[] some = WorkCompletion.array(4);
        int count = b.completions.await(some);
        assertThat(some[0].id()).isEqualTo(7);
        if (count == 1) { // the second message was still on its way
            assertThat(b.completions.await(some)).isEqualTo(1);
            assertThat(some[0].id()).isEqualTo(8);
        } else {
            assertThat(some[1].id()).isEqualTo(8);
        }
        assertThat(b.completions.await(some, SHORT)).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aThreadWaitsForTheNextCompletion(boolean virtual) throws Exception {
        CompletableFuture<Long> received = blockedInThread(virtual, () -> {
            WorkCompletion[] one = WorkCompletion.array(1);
            assertThat(b.completions.await(one)).isEqualTo(1);
            return one[0].id();
        });
        assertThat(received).isNotDone();
        send(7);
        assertThat(received.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(7);
    }

    @Test
    void failuresAreCompletionsToo() {
        b.postReceive(7);
        b.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        WorkCompletion[] one = WorkCompletion.array(1);
        assertThat(b.completions.await(one, LONG)).isEqualTo(1);
        assertThat(one[0].status()).isEqualTo(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
    }

    @Test
    void theTimeoutElapsesAndZeroDoesNotWait() {
        WorkCompletion[] one = WorkCompletion.array(1);
        long startNanos = System.nanoTime();
        assertThat(b.completions.await(one, SHORT)).isZero();
        assertThat(System.nanoTime() - startNanos).isGreaterThanOrEqualTo(SHORT.toNanos());
        assertThat(b.completions.await(one, Duration.ZERO)).isZero();
        assertThat(b.completions.await(one, Duration.ofNanos(-1))).isZero();
    }

    @Test
    void aQueueWithoutAChannelIsRefusedWithARemedy() {
        try (CompletionQueue polled = a.context.createCompletionQueue(4)) {
            assertRefused(Errno.EINVAL, "has no channel. Specify", () -> polled.await(WorkCompletion.array(1)));
            assertRefused(Errno.EINVAL, "has no channel", () -> polled.await(WorkCompletion.array(1), Duration.ZERO));
        }
    }

    @Test
    void anArrayWithoutElementsIsRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> a.completions.await(WorkCompletion.array(0)));
    }

    @Test
    void aClosedQueueIsRefused() {
        CompletionQueue queue = b.context.createCompletionQueue(4, b.channel);
        queue.close();
        assertThat(outcome(() -> queue.await(WorkCompletion.array(1)))).isEqualTo(CLOSED);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closingTheQueueEndsTheWaitAlthoughOthersUseItsChannel(boolean virtual) throws Exception {
        CompletionQueue queue = b.context.createCompletionQueue(4, b.channel);
        CompletableFuture<String> ended =
                blockedInThread(virtual, () -> outcome(() -> queue.await(WorkCompletion.array(1), LONG)));
        queue.close();
        assertThat(ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(CLOSED);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void closingTheDeviceEndsTheWait(boolean virtual) throws Exception {
        CompletableFuture<String> ended =
                blockedInThread(virtual, () -> outcome(() -> b.completions.await(WorkCompletion.array(1))));
        b.close();
        assertThat(ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(CLOSED);
    }

    @Test
    void anInterruptEndsTheWaitAndTheStatusStaysSet() throws Exception {
        CompletableFuture<Thread> waiting = new CompletableFuture<>();
        CompletableFuture<String> ended = inThread(false, () -> {
            waiting.complete(Thread.currentThread());
            return outcome(() -> b.completions.await(WorkCompletion.array(1)));
        });
        waiting.get().interrupt();
        assertThat(ended.get(PATIENCE_SECONDS, TimeUnit.SECONDS))
                .isEqualTo(InterruptedRdmaException.class.getSimpleName() + " ibv_get_cq_event EINTR, interrupted");
    }

    /** Each wait takes the events of both queues, and must not keep the other one waiting. */
    @Test
    void threadsWaitForTwoQueuesOfAChannel() throws Exception {
        int rounds = TestDevices.load(1_000);
        CompletionQueue other = b.context.createCompletionQueue(64, b.channel);
        QueuePair toOther =
                b.domain.createQueuePair(QueuePairInitAttributes.reliable(other, TestEndpoint.CAPABILITIES));
        QueuePair fromOther =
                a.domain.createQueuePair(QueuePairInitAttributes.reliable(a.completions, TestEndpoint.CAPABILITIES));
        DirectConnections.connect(a, fromOther, b, toOther);
        CompletableFuture<Integer> first = inThread(false, () -> receive(b.queuePair, rounds));
        CompletableFuture<Integer> second = inThread(false, () -> receive(toOther, rounds));
        SendWorkRequest message = SendWorkRequest.send(1, a.region, 0, 8).signaled();
        WorkCompletion[] one = WorkCompletion.array(1);
        for (int i = 0; i < 2 * rounds; i++) {
            (i % 2 == 0 ? a.queuePair : fromOther).postSend(message);
            assertThat(a.completions.await(one, Duration.ofSeconds(PATIENCE_SECONDS)))
                    .isEqualTo(1);
            assertThat(one[0].status()).isEqualTo(CompletionStatus.SUCCESS);
        }
        assertThat(first.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(rounds);
        assertThat(second.get(PATIENCE_SECONDS, TimeUnit.SECONDS)).isEqualTo(rounds);
    }

    private int receive(QueuePair queuePair, int messages) {
        WorkCompletion[] some = WorkCompletion.array(4);
        ReceiveWorkRequest request = new ReceiveWorkRequest().reset(1).into(b.region, 0, 64);
        for (int i = 0; i < 4; i++) {
            queuePair.postReceive(request);
        }
        int received = 0;
        while (received < messages) {
            int count = queuePair.receiveCompletions().await(some, Duration.ofSeconds(PATIENCE_SECONDS));
            if (count == 0) {
                return received;
            }
            for (int i = 0; i < count; i++) {
                assertThat(some[i].isSuccess()).isTrue();
                queuePair.postReceive(request);
            }
            received += count;
        }
        return received;
    }
}
