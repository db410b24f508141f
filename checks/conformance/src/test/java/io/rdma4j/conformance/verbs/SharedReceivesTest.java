package io.rdma4j.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.DirectConnections;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.PartialPostException;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Shared receive queues of the public API. */
@Timeout(30)
class SharedReceivesTest {
    private static final int CAPACITY = 16;
    private static final int QUEUE_PAIRS = 3;
    private static final int SLOT_BYTES = 4096;

    private TestEndpoint a;
    private TestEndpoint b;
    private SharedReceiveQueue shared;
    private int capacity; // a device may make a queue larger
    private final List<QueuePair> senders = new ArrayList<>();
    private final List<QueuePair> receivers = new ArrayList<>();

    @BeforeEach
    void connect() {
        TestDevices.require(Capability.SHARED_RECEIVE_QUEUES);
        a = new TestEndpoint(TestDevices.freshAddress());
        b = new TestEndpoint(TestDevices.peerOf(a.address));
        shared = b.domain.createSharedReceiveQueue(
                new SharedReceiveQueueInitAttributes(CAPACITY, 2, "mine", null, null));
        capacity = shared.query().maxWorkRequests();
        for (int i = 0; i < QUEUE_PAIRS; i++) {
            QueuePair sender = a.domain.createQueuePair(reliable(a));
            QueuePair receiver = b.domain.createQueuePair(reliable(b).withSharedReceiveQueue(shared));
            DirectConnections.connect(a, sender, b, receiver);
            senders.add(sender);
            receivers.add(receiver);
        }
        assertThat(b.context.awaitAsyncEvent(Duration.ZERO)).isNull();
    }

    @AfterEach
    void close() {
        if (a != null) { // the device has the feature
            a.close();
            b.close();
        }
    }

    private static QueuePairInitAttributes reliable(TestEndpoint side) {
        return QueuePairInitAttributes.reliable(side.completions, TestEndpoint.CAPABILITIES);
    }

    private ReceiveWorkRequest receive(int slot) {
        return new ReceiveWorkRequest().reset(slot).into(b.region, (long) slot * SLOT_BYTES, SLOT_BYTES);
    }

    private void send(int queuePair, byte content, int bytes) {
        a.memory.asSlice(0, bytes).fill(content);
        senders.get(queuePair)
                .postSend(new SendWorkRequest()
                        .reset(queuePair)
                        .from(a.region, 0, bytes)
                        .signaled());
        assertThat(a.completion().status()).isEqualTo(CompletionStatus.SUCCESS);
    }

    private static Errno refused(Runnable call) {
        return catchThrowableOfType(RdmaException.class, call::run).errno();
    }

    @Test
    void eachMessageTakesTheOldestReceiveAndNamesItsQueuePair() {
        for (int slot = 0; slot < 2 * QUEUE_PAIRS; slot++) {
            shared.postReceive(receive(slot));
        }
        for (int slot = 0; slot < 2 * QUEUE_PAIRS; slot++) {
            int from = slot % QUEUE_PAIRS;
            send(from, (byte) slot, SLOT_BYTES);
            WorkCompletion done = b.completion();
            assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(done.id()).isEqualTo(slot);
            assertThat(done.queuePairNumber()).isEqualTo(receivers.get(from).number());
            assertThat(b.memory.get(ValueLayout.JAVA_BYTE, (slot + 1L) * SLOT_BYTES - 1))
                    .isEqualTo((byte) slot);
        }
    }

    @Test
    void receivesPostedTogetherAreAcceptedUpToTheFirstInvalidOne() {
        ReceiveWorkRequest[] receives = new ReceiveWorkRequest[capacity + 1];
        Arrays.setAll(receives, this::receive);
        assertThatExceptionOfType(PartialPostException.class)
                .isThrownBy(() -> shared.postReceives(receives, capacity + 1))
                .withMessageContaining("ibv_post_srq_recv")
                .satisfies(e -> assertThat(e.posted()).isEqualTo(capacity))
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENOMEM));
        for (int slot = 0; slot < capacity; slot++) {
            send(slot % QUEUE_PAIRS, (byte) slot, 8);
            assertThat(b.completion().id()).isEqualTo(slot);
        }
    }

    @Test
    void messageWaitsForAReceive() {
        senders.getFirst()
                .postSend(new SendWorkRequest()
                        .reset(1)
                        .from(a.region, 0, SLOT_BYTES)
                        .signaled());
        assertThat(a.completions.poll(WorkCompletion.array(1))).isZero();
        shared.postReceive(receive(0));
        assertThat(a.completion().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(b.completion().byteLength()).isEqualTo(SLOT_BYTES);
    }

    @Test
    void limitIsReportedOnceWhenFewerReceivesAreLeft() {
        for (int slot = 0; slot < 10; slot++) {
            shared.postReceive(receive(slot));
        }
        shared.setLimit(7);
        assertThat(shared.query()).isEqualTo(new SharedReceiveQueueAttributes(capacity, 2, 7));
        for (int i = 0; i < 3; i++) {
            send(i, (byte) i, 8);
            assertThat(b.completion().id()).isEqualTo(i);
        }
        assertThat(b.context.awaitAsyncEvent(Duration.ZERO)).isNull();
        for (int i = 3; i < 6; i++) {
            send(0, (byte) i, 8);
            assertThat(b.completion().id()).isEqualTo(i);
        }
        assertThat(b.context.awaitAsyncEvent(Duration.ofSeconds(5)))
                .isEqualTo(new AsyncEvent(AsyncEvent.Type.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, shared));
        assertThat(b.context.awaitAsyncEvent(Duration.ZERO)).isNull();
        assertThat(shared.query().limit()).isZero();
    }

    @Test
    @NotOn(value = Driver.RXE, because = "does not report that a queue pair takes no more shared receives")
    void failedQueuePairLeavesTheReceivesToOthersAndReportsItsLastOne() {
        shared.postReceive(receive(0));
        QueuePair failed = receivers.getFirst();
        failed.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        assertThat(b.completions.poll(WorkCompletion.array(1))).isZero();
        assertThat(b.context.awaitAsyncEvent(Duration.ofSeconds(5)))
                .isEqualTo(new AsyncEvent(AsyncEvent.Type.QUEUE_PAIR_LAST_WORK_REQUEST_REACHED, failed));
        send(1, (byte) 9, 100);
        assertThat(b.completion().queuePairNumber()).isEqualTo(receivers.get(1).number());
    }

    @Test
    void fullQueueRefusesUntilItIsMadeLarger() {
        for (int slot = 0; slot < capacity; slot++) {
            shared.postReceive(receive(slot));
        }
        assertThat(refused(() -> shared.postReceive(receive(1)))).isEqualTo(Errno.ENOMEM);
        shared.resize(capacity + 1);
        shared.postReceive(receive(capacity));
        assertThat(refused(() -> shared.resize(capacity))).isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> shared.resize(0))).isEqualTo(Errno.EINVAL);
        assertThat(shared.query().maxWorkRequests()).isGreaterThan(capacity);
        for (int slot = 0; slot <= capacity; slot++) {
            send(slot % QUEUE_PAIRS, (byte) slot, 8);
            assertThat(b.completion().id()).isEqualTo(slot);
        }
    }

    @Test
    void limitNeverExceedsTheSize() {
        assertThat(refused(() -> shared.setLimit(capacity + 1))).isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> shared.setLimit(-1))).isEqualTo(Errno.EINVAL);
        shared.setLimit(capacity);
        assertThat(refused(() -> shared.resize(capacity - 1))).isEqualTo(Errno.EINVAL);
    }

    @Test
    void queuePairWithASharedQueueHasNoReceivesOfItsOwn() {
        QueuePair receiver = receivers.getFirst();
        assertThat(refused(() -> receiver.postReceive(receive(0)))).isEqualTo(Errno.EINVAL);
        assertThat(receiver.sharedReceiveQueue()).isSameAs(shared);
        assertThat(receiver.capabilities().maxReceiveWorkRequests()).isZero();
        assertThat(b.queuePair.sharedReceiveQueue()).isNull();
    }

    @Test
    void invalidRequestIsRefused() {
        ReceiveWorkRequest three = new ReceiveWorkRequest().reset(1);
        for (int i = 0; i < 3; i++) {
            three.into(b.region, i, 1);
        }
        assertThat(refused(() -> shared.postReceive(three))).isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> b.domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.of(0, 1))))
                .isEqualTo(Errno.EINVAL);
        int tooMany = b.context.attributes().maxSharedReceiveQueueScatterGather() + 1;
        assertThat(refused(() -> b.domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.of(1, tooMany))))
                .isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> a.domain.createQueuePair(reliable(a).withSharedReceiveQueue(shared))))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void regionOfAnotherDomainIsRefused() {
        TestDevices.require(Capability.CHECKED_REGIONS);
        MemoryRegion foreign = b.context.createProtectionDomain().register(b.memory, TestEndpoint.ALL);
        assertThat(refused(() ->
                        shared.postReceive(new ReceiveWorkRequest().reset(1).into(foreign))))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void queueIsBusyWhileQueuePairsUseIt() {
        assertThat(refused(shared::close)).isEqualTo(Errno.EBUSY);
        receivers.forEach(QueuePair::close);
        shared.postReceive(receive(0));
        shared.close();
        shared.close();
        assertThat(refused(() -> shared.postReceive(receive(0)))).isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> b.domain.createQueuePair(reliable(b).withSharedReceiveQueue(shared))))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void domainIsBusyWhileItHasASharedQueue() {
        var domain = b.context.createProtectionDomain();
        SharedReceiveQueue other = domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.of(1, 1));
        assertThat(refused(domain::close)).isEqualTo(Errno.EBUSY);
        other.close();
        domain.close();
        assertThat(shared.userContext()).isEqualTo("mine");
    }

    @Test
    @NotOn(value = Driver.RXE, because = "looks up the keys of shared receives in the domain of the queue pair")
    void queuePairMayBeOfAnotherDomainThanItsSharedQueue() {
        var domain = b.context.createProtectionDomain();
        QueuePair receiver = domain.createQueuePair(reliable(b).withSharedReceiveQueue(shared));
        DirectConnections.connect(a, a.queuePair, b, receiver);
        shared.postReceive(receive(2));
        a.queuePair.postSend(new SendWorkRequest().reset(1).from(a.region, 0, 8).signaled());
        assertThat(a.completion().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(b.completion().id()).isEqualTo(2);
    }
}
