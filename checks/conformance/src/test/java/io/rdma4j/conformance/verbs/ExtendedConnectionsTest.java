package io.rdma4j.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.XrcDomain;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Extended reliable connections of the public API: an initiator at A, a target at B. */
@Timeout(30)
class ExtendedConnectionsTest {
    private static final int BYTES = 5000;

    private TestEndpoint a;
    private TestEndpoint b;
    private XrcDomain domain;
    private CompletionQueue secondCompletions;
    private SharedReceiveQueue first;
    private SharedReceiveQueue second;
    private QueuePair initiator;
    private QueuePair target;

    @BeforeEach
    void connect() {
        TestDevices.require(Capability.EXTENDED_CONNECTIONS);
        a = new TestEndpoint(TestDevices.freshAddress());
        b = new TestEndpoint(TestDevices.peerOf(a.address));
        domain = b.context.openXrcDomain();
        secondCompletions = b.context.createCompletionQueue(16);
        SharedReceiveQueueInitAttributes sizes = SharedReceiveQueueInitAttributes.of(8, 1);
        first = b.domain.createSharedReceiveQueue(sizes.withXrcDomain(domain).withCompletions(b.completions));
        second = b.domain.createSharedReceiveQueue(sizes.withXrcDomain(domain).withCompletions(secondCompletions));
        initiator = a.domain.createQueuePair(
                QueuePairInitAttributes.of(QueuePairType.XRC_SEND, a.completions, TestEndpoint.CAPABILITIES));
        target = b.domain.createQueuePair(QueuePairInitAttributes.extendedReceive(domain, b.completions));
        TestEndpoint.toInit(initiator);
        TestEndpoint.toInit(target);
        initiator.modify(ready(a, b, target));
        target.modify(ready(b, a, initiator).maxDestinationReadAtomic(16).minRnrTimer(1));
        initiator.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .sendPsn(a.psn)
                .maxReadAtomic(16)
                .retryCount(7)
                .rnrRetry(7)
                .timeout(14));
        a.memory.asSlice(0, BYTES).fill((byte) 3);
    }

    private static QueuePairAttributes ready(TestEndpoint side, TestEndpoint peer, QueuePair remote) {
        return new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(AddressVector.of(side.gidIndex(), Gid.of(peer.address)))
                .pathMtu(PathMtu.MTU_1024)
                .destinationQueuePair(remote.number())
                .receivePsn(peer.psn);
    }

    @AfterEach
    void close() {
        if (a != null) { // the device has the feature
            a.close();
            b.close();
        }
    }

    private static Errno refused(Runnable call) {
        return catchThrowableOfType(RdmaException.class, call::run).errno();
    }

    private CompletionStatus perform(SendWorkRequest request, SharedReceiveQueue queue) {
        initiator.postSend(request.toSharedReceiveQueue(queue.number()).signaled());
        return a.completion().status();
    }

    private SendWorkRequest request() {
        return new SendWorkRequest().reset(1).from(a.region, 0, BYTES);
    }

    @Test
    void messageArrivesAtTheQueueThatItNames() {
        first.postReceive(new ReceiveWorkRequest().reset(11).into(b.region, 0, BYTES));
        second.postReceive(new ReceiveWorkRequest().reset(22).into(b.region, BYTES, BYTES));
        assertThat(perform(request(), second)).isEqualTo(CompletionStatus.SUCCESS);
        WorkCompletion[] one = WorkCompletion.array(1);
        while (secondCompletions.poll(one) == 0) {
            Thread.onSpinWait();
        }
        assertThat(one[0].id()).isEqualTo(22);
        assertThat(one[0].queuePairNumber()).isEqualTo(target.number());
        assertThat(b.memory.get(ValueLayout.JAVA_BYTE, 2L * BYTES - 1)).isEqualTo((byte) 3);
        assertThat(perform(request().withImmediate(9), first)).isEqualTo(CompletionStatus.SUCCESS);
        WorkCompletion done = b.completion();
        assertThat(done.id()).isEqualTo(11);
        assertThat(done.immediate()).isEqualTo(9);
    }

    @Test
    void memoryIsAccessedWithoutAReceive() {
        assertThat(perform(request().write(b.region.address(), b.region.remoteKey()), first))
                .isEqualTo(CompletionStatus.SUCCESS);
        assertThat(b.memory.get(ValueLayout.JAVA_BYTE, BYTES - 1L)).isEqualTo((byte) 3);
        b.memory.asSlice(0, BYTES).fill((byte) 4);
        assertThat(perform(request().read(b.region.address(), b.region.remoteKey()), first))
                .isEqualTo(CompletionStatus.SUCCESS);
        assertThat(a.memory.get(ValueLayout.JAVA_BYTE, BYTES - 1L)).isEqualTo((byte) 4);
        initiator.postSend(new SendWorkRequest()
                .reset(5)
                .from(a.region, 0, 8)
                .fetchAndAdd(b.region.address(), b.region.remoteKey(), 1)
                .toSharedReceiveQueue(first.number())
                .signaled());
        assertThat(a.completion().opcode()).isEqualTo(CompletionOpcode.FETCH_AND_ADD);
        assertThat(b.memory.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 5);
    }

    @Test
    void messageIsRefusedIfTheCompletionQueueOfItsReceivesHasOverrun() {
        CompletionQueue small = b.context.createCompletionQueue(2);
        SharedReceiveQueue third = b.domain.createSharedReceiveQueue(
                SharedReceiveQueueInitAttributes.of(8, 1).withXrcDomain(domain).withCompletions(small));
        for (int i = 0; i <= small.capacity(); i++) {
            third.postReceive(new ReceiveWorkRequest().reset(i).into(b.region, 0, BYTES));
        }
        for (int i = 0; i < small.capacity(); i++) {
            assertThat(perform(request(), third)).isEqualTo(CompletionStatus.SUCCESS);
        }
        assertThat(perform(request(), third)).isEqualTo(CompletionStatus.REMOTE_OPERATION_ERROR);
        assertThat(target.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(small.poll(WorkCompletion.array(8))).isEqualTo(small.capacity());
        AsyncEvent.Type event;
        do {
            event = Objects.requireNonNull(b.context.awaitAsyncEvent(Duration.ofSeconds(10)))
                    .type();
        } while (event == AsyncEvent.Type.COMMUNICATION_ESTABLISHED);
        assertThat(event).isEqualTo(AsyncEvent.Type.COMPLETION_QUEUE_ERROR);
    }

    @Test
    void unknownNumberIsAnInvalidRequest() {
        initiator.postSend(
                request().toSharedReceiveQueue(first.number() ^ 0x800000).signaled());
        assertThat(a.completion().status()).isEqualTo(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }

    @Test
    void queuePairsPostOnlyTheOperationsOfTheirRole() {
        ReceiveWorkRequest receive = new ReceiveWorkRequest().reset(1);
        assertThat(refused(() -> initiator.postReceive(receive))).isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> target.postReceive(receive))).isEqualTo(Errno.EINVAL);
        target.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .sendPsn(b.psn)
                .timeout(14));
        assertThat(refused(() -> target.postSend(new SendWorkRequest().reset(1))))
                .isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> initiator.postSend(request().toSharedReceiveQueue(1 << 24))))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void objectsAreBusyWhileOthersNeedThem() {
        assertThat(refused(domain::close)).isEqualTo(Errno.EBUSY);
        assertThat(refused(secondCompletions::close)).isEqualTo(Errno.EBUSY);
        second.close();
        secondCompletions.close();
        first.close();
        assertThat(refused(domain::close)).isEqualTo(Errno.EBUSY);
        target.close();
        domain.close();
        domain.close();
        assertThat(refused(
                        () -> b.domain.createQueuePair(QueuePairInitAttributes.extendedReceive(domain, b.completions))))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void typesOfQueuesAndQueuePairsMustMatch() {
        SharedReceiveQueue plain = b.domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.of(1, 1));
        assertThat(refused(plain::number)).isEqualTo(Errno.EOPNOTSUPP);
        QueuePairInitAttributes connected = QueuePairInitAttributes.reliable(b.completions, TestEndpoint.CAPABILITIES);
        assertThat(refused(() -> b.domain.createQueuePair(connected.withSharedReceiveQueue(first))))
                .isEqualTo(Errno.EINVAL);
        QueuePairInitAttributes send =
                QueuePairInitAttributes.of(QueuePairType.XRC_SEND, b.completions, TestEndpoint.CAPABILITIES);
        assertThat(refused(() -> b.domain.createQueuePair(send.withSharedReceiveQueue(plain))))
                .isEqualTo(Errno.EINVAL);
        QueuePairInitAttributes noDomain =
                QueuePairInitAttributes.of(QueuePairType.XRC_RECEIVE, b.completions, TestEndpoint.CAPABILITIES);
        assertThat(refused(() -> b.domain.createQueuePair(noDomain))).isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> b.domain.createSharedReceiveQueue(
                        new SharedReceiveQueueInitAttributes(1, 1, null, null, b.completions))))
                .isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> b.domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.of(1, 1)
                        .withXrcDomain(domain)
                        .withCompletions(a.completions))))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void transitionsRequireTheAttributesOfTheRole() {
        QueuePair other = a.domain.createQueuePair(
                QueuePairInitAttributes.of(QueuePairType.XRC_SEND, a.completions, TestEndpoint.CAPABILITIES));
        TestEndpoint.toInit(other);
        assertThat(refused(() -> other.modify(ready(a, b, target).minRnrTimer(1))))
                .isEqualTo(Errno.EINVAL);
        assertThat(refused(() -> target.modify(new QueuePairAttributes()
                        .state(QueuePairState.READY_TO_SEND)
                        .sendPsn(1))))
                .isEqualTo(Errno.EINVAL);
    }
}
