package io.rdma4j.conformance.verbs;

import static io.rdma4j.conformance.device.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.DirectConnections;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionQueueInitAttributes;
import io.rdma4j.verbs.CompletionReader;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.time.Duration;
import java.time.Instant;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The size of completion queues, and reading completions one by one. */
@Timeout(30)
class CompletionQueueTest {
    private TestEndpoint endpoint;

    @BeforeEach
    void open() {
        endpoint = new TestEndpoint(TestDevices.freshAddress(), 4096, 16);
    }

    @AfterEach
    void close() {
        endpoint.close();
    }

    /** Adds completions with the numbers from {@code first} on: the receives of a queue pair that fails. */
    private void complete(int first, int count) {
        QueuePair fails = endpoint.domain.createQueuePair(
                QueuePairInitAttributes.reliable(endpoint.completions, TestEndpoint.CAPABILITIES));
        TestEndpoint.toInit(fails);
        for (int i = 0; i < count; i++) {
            fails.postReceive(new ReceiveWorkRequest().reset(first + i).into(endpoint.region));
        }
        fails.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
    }

    /** Waits for a condition: another thread may be driving the engine, so posted work completes a moment later. */
    private static void becomesTrue(BooleanSupplier call) {
        long giveUp = System.nanoTime() + 20_000_000_000L;
        while (!call.getAsBoolean()) {
            assertThat(System.nanoTime() - giveUp).as("nanoseconds too late").isNegative();
        }
    }

    private void refused(int entries, String because) {
        assertRefused(Errno.EINVAL, because, () -> endpoint.completions.resize(entries));
    }

    @Test
    void resizedQueueKeepsItsCompletionsInOrderAndHoldsMore() {
        TestDevices.require(Capability.RESIZABLE_COMPLETION_QUEUES);
        complete(0, 10);
        WorkCompletion[] some = WorkCompletion.array(5);
        assertThat(endpoint.completions.poll(some)).isEqualTo(5);
        endpoint.completions.resize(60);
        assertThat(endpoint.completions.capacity()).isGreaterThanOrEqualTo(60);
        complete(10, 50);
        for (int i = 5; i < 60; i++) {
            assertThat(endpoint.completion().id()).isEqualTo(i);
        }
        assertThat(endpoint.context.awaitAsyncEvent(Duration.ZERO)).isNull();
    }

    @Test
    void queueIsNotMadeSmallerThanItsContent() {
        TestDevices.require(Capability.RESIZABLE_COMPLETION_QUEUES);
        complete(0, 10);
        refused(9, "10 completions");
        refused(0, "0 entries");
        endpoint.completions.resize(10);
        assertThat(endpoint.completions.capacity()).isLessThanOrEqualTo(16);
        for (int i = 0; i < 10; i++) {
            assertThat(endpoint.completion().id()).isEqualTo(i);
        }
    }

    @Test
    void readerReturnsCompletionsOneByOneAndLeavesTheRest() {
        CompletionReader reader = endpoint.completions.reader();
        assertThat(reader.start()).isFalse();
        assertThatThrownBy(reader::completion).isInstanceOf(IllegalStateException.class);
        complete(1, 3);
        becomesTrue(reader::start);
        assertThat(reader.completion().id()).isEqualTo(1);
        assertThat(reader.completion().status()).isEqualTo(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        becomesTrue(reader::next);
        assertThat(reader.completion().id()).isEqualTo(2);
        assertThatThrownBy(reader::start).isInstanceOf(IllegalStateException.class);
        reader.end();
        assertThat(endpoint.completion().id()).isEqualTo(3);
        complete(4, 1);
        becomesTrue(reader::start);
        assertThat(reader.completion().id()).isEqualTo(4);
        assertThat(reader.next()).isFalse();
        reader.end();
    }

    @Test
    void completionHasTimestampsOfBothClocks() {
        Instant before = Instant.now();
        long beforeNanos = System.nanoTime();
        complete(1, 1);
        CompletionReader reader = endpoint.completions.reader();
        becomesTrue(reader::start);
        assertThat(reader.completion().timestampNanos()).isBetween(beforeNanos, System.nanoTime());
        assertThat(Instant.ofEpochSecond(0, reader.wallClockNanos()))
                .isBetween(before.minusMillis(20), Instant.now().plusMillis(20));
        reader.end();
    }

    @Test
    void theClockOfTheDeviceIsConvertedToTheTimeOfDay() {
        CompletionQueueInitAttributes attributes =
                CompletionQueueInitAttributes.of(16).withDeviceClock(true);
        TestEndpoint peer = new TestEndpoint(endpoint.address);
        try (peer;
                CompletionQueue queue = endpoint.context.createCompletionQueue(attributes);
                QueuePair clocked = endpoint.domain.createQueuePair(
                        QueuePairInitAttributes.reliable(queue, TestEndpoint.CAPABILITIES))) {
            DirectConnections.connect(endpoint, clocked, peer, peer.queuePair);
            Instant before = Instant.now();
            clocked.postWrite(1, endpoint.region, 0, 8, peer.region.remote());
            WorkCompletion[] one = WorkCompletion.array(1);
            becomesTrue(() -> queue.poll(one) == 1);
            assertThat(one[0].isSuccess()).isTrue();
            assertThat(Instant.ofEpochSecond(0, queue.wallClockNanos(one[0].timestampNanos())))
                    .isBetween(before.minusMillis(20), Instant.now().plusMillis(20));
        }
    }

    @Test
    @NotOn(value = Driver.RXE, because = "does not fail the queue pairs of a completion queue that has overrun")
    void queuePairWithAnOverrunQueueFailsInsteadOfLosingCompletions() {
        complete(0, endpoint.completions.capacity() + 1); // one more than its capacity
        TestEndpoint peer = new TestEndpoint(endpoint.address);
        QueuePair late = endpoint.domain.createQueuePair(
                QueuePairInitAttributes.reliable(endpoint.completions, TestEndpoint.CAPABILITIES));
        DirectConnections.connect(endpoint, late, peer, peer.queuePair);
        late.postWrite(1, endpoint.region, 0, 8, peer.region.remote());
        becomesTrue(() -> {
            assertThat(peer.completions.poll(WorkCompletion.array(1))).isZero(); // drives
            return late.state() == QueuePairState.ERROR;
        });
        peer.close();
    }

    private static void refusedVector(int vector, TestEndpoint endpoint) {
        int last = endpoint.context.completionVectors() - 1;
        assertRefused(
                Errno.EINVAL, "0 to " + last, () -> endpoint.context.createCompletionQueue(16, null, null, vector));
    }

    @Test
    void queueHasTheRequestedVectorOrTheFirst() {
        int vectors = endpoint.context.completionVectors();
        assertThat(vectors).isPositive();
        assertThat(endpoint.completions.completionVector()).isZero();
        for (int vector = 0; vector < vectors; vector++) {
            try (CompletionQueue queue = endpoint.context.createCompletionQueue(16, this, null, vector)) {
                assertThat(queue.completionVector()).isEqualTo(vector);
                assertThat(queue.userContext()).isSameAs(this);
            }
        }
    }

    @Test
    void unknownVectorIsRefusedWithTheValidRange() {
        refusedVector(-1, endpoint);
        refusedVector(endpoint.context.completionVectors(), endpoint);
        refusedVector(Integer.MIN_VALUE, endpoint);
        refusedVector(Integer.MAX_VALUE, endpoint);
    }

    @Test
    void refusedQueueIsNotAttachedToTheChannel() {
        CompletionChannel channel = endpoint.context.createCompletionChannel();
        assertThatThrownBy(() -> endpoint.context.createCompletionQueue(16, null, channel, -1))
                .isInstanceOf(RdmaException.class);
        channel.close(); // is refused while a queue reports there
    }
}
