package io.rdma4j.conformance.verbs;

import static io.rdma4j.conformance.device.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.DirectConnections;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttribute;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.RemoteMemory;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.net.InetAddress;
import java.time.Duration;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The states of a queue pair: requirements of each change, posting in each state, and errors. */
@Timeout(30)
class QueuePairStateTest {
    private final InetAddress address = TestDevices.freshAddress();
    private TestEndpoint a;
    private TestEndpoint b;

    @BeforeEach
    void open() {
        a = new TestEndpoint(address);
        b = new TestEndpoint(address);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    private static QueuePairAttributes to(QueuePairState state) {
        return new QueuePairAttributes().state(state);
    }

    private QueuePairAttributes pathTo(InetAddress peer) {
        return to(QueuePairState.READY_TO_RECEIVE)
                .addressVector(AddressVector.of(a.gidIndex(), Gid.of(peer)))
                .pathMtu(PathMtu.MTU_1024)
                .destinationQueuePair(100)
                .receivePsn(0)
                .maxDestinationReadAtomic(1)
                .minRnrTimer(1);
    }

    @Test
    @NotOn(value = Driver.SIW, because = "succeeds in a change to READY_TO_RECEIVE without attributes, and ignores it")
    void refusedChangeChangesNothing() {
        TestEndpoint.toInit(a.queuePair);
        assertRefused(Errno.EINVAL, "needs", () -> a.queuePair.modify(to(QueuePairState.READY_TO_RECEIVE)));
        assertRefused(Errno.EINVAL, "cannot go", () -> a.queuePair.modify(to(QueuePairState.READY_TO_SEND)));
        QueuePairAttributes now = a.queuePair.query();
        assertThat(now.state()).isEqualTo(QueuePairState.INIT);
        Set<QueuePairAttribute> set = Set.of(
                QueuePairAttribute.STATE,
                QueuePairAttribute.PARTITION_KEY_INDEX,
                QueuePairAttribute.PORT,
                QueuePairAttribute.ACCESS_FLAGS);
        assertThat(now.present()).containsAll(set);
        if (TestDevices.driver() == Driver.SOFTWARE) { // a kernel also returns values that nobody has set
            assertThat(now.present()).isEqualTo(set);
        }
    }

    @Test
    @NotOn(value = Driver.RXE, because = "does not check the ranges of attributes")
    void valuesOutOfRangeAreNamed() {
        TestEndpoint.toInit(a.queuePair);
        assertRefused(
                Errno.EINVAL,
                "DESTINATION_QUEUE_PAIR 16777216",
                () -> a.queuePair.modify(pathTo(address).destinationQueuePair(1 << 24)));
        assertRefused(
                Errno.EINVAL,
                "MIN_RNR_TIMER 32",
                () -> a.queuePair.modify(pathTo(address).minRnrTimer(32)));
        assertRefused(
                Errno.EINVAL,
                "no GID with index 900",
                () -> a.queuePair.modify(pathTo(address).addressVector(AddressVector.of(900, Gid.of(address)))));
        assertRefused(
                Errno.EINVAL, "another address family", () -> a.queuePair.modify(pathTo(InetAddress.ofLiteral("::1"))));
        int tooDeep = a.context.attributes().maxReadAtomicPerQueuePair() + 1;
        assertRefused(
                Errno.EINVAL,
                "MAX_DESTINATION_READ_ATOMIC " + tooDeep,
                () -> a.queuePair.modify(pathTo(address).maxDestinationReadAtomic(tooDeep)));
    }

    @Test
    void queryReturnsTheSetAttributes() {
        DirectConnections.connect(a, b);
        QueuePairAttributes now = a.queuePair.query();
        assertThat(now.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(now.destinationQueuePair()).isEqualTo(b.queuePair.number());
        assertThat(now.pathMtu()).isEqualTo(PathMtu.MTU_1024);
        assertThat(now.sendPsn()).isEqualTo(a.psn);
        assertThat(now.retryCount()).isEqualTo(7);
        assertThat(now.accessFlags()).isEqualTo(TestEndpoint.ALL);
        assertThat(now.addressVector()).isNotNull();
    }

    @Test
    void rightsOfAConnectedQueuePairCanBeRevoked() {
        DirectConnections.connect(a, b);
        b.queuePair.modify(new QueuePairAttributes().accessFlags(Set.of(AccessFlag.LOCAL_WRITE)));
        a.queuePair.postWrite(1, a.region, 0, 8, b.region.remote());
        assertThat(a.completion().status())
                .isIn(CompletionStatus.REMOTE_ACCESS_ERROR, CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }

    @Test
    @NotOn(
            value = Driver.SIW,
            because = "refuses a send before the connection by -1 in the place of an error number, and keeps it in its"
                    + " queue")
    void sendsAreRefusedBeforeReadyToSend() {
        SendWorkRequest send = new SendWorkRequest().reset(1);
        assertRefused(Errno.EINVAL, "RESET", () -> a.queuePair.postSend(send));
        TestEndpoint.toInit(a.queuePair);
        assertRefused(Errno.EINVAL, "INIT", () -> a.queuePair.postSend(send));
    }

    @Test
    @NotOn(value = Driver.SIW, because = "takes receives in every state")
    void receivesAreRefusedInResetOnly() {
        ReceiveWorkRequest receive = new ReceiveWorkRequest().reset(1).into(a.region);
        assertRefused(Errno.EINVAL, "RESET", () -> a.queuePair.postReceive(receive));
        TestEndpoint.toInit(a.queuePair);
        a.queuePair.postReceive(receive);
    }

    @Test
    void fullQueueIsRefusedAndKeepsItsOrder() {
        TestEndpoint.toInit(a.queuePair);
        int posted = 0;
        RdmaException full = null;
        while (full == null && posted < a.completions.capacity()) {
            try {
                a.queuePair.postReceive(new ReceiveWorkRequest().reset(posted).into(a.region));
                posted++;
            } catch (RdmaException refused) {
                full = refused;
            }
        }
        int required = a.queuePair.capabilities().maxReceiveWorkRequests();
        assertThat(posted).isGreaterThanOrEqualTo(required); // a kernel may round the size up
        if (TestDevices.driver() == Driver.SOFTWARE) {
            assertThat(posted).isEqualTo(required);
        }
        assertThat(full).hasMessageContaining("full");
        assertThat(Objects.requireNonNull(full).errno()).isEqualTo(Errno.ENOMEM);
        a.queuePair.modify(to(QueuePairState.ERROR));
        for (int i = 0; i < posted; i++) {
            assertThat(a.completion().id()).isEqualTo(i);
        }
    }

    @Test
    @NotOn(value = Driver.RXE, because = "does not flush receives that are posted after a failure")
    void workPostedInErrorIsFlushed() {
        DirectConnections.connect(a, b);
        a.queuePair.modify(to(QueuePairState.ERROR));
        a.queuePair.postSend(new SendWorkRequest().reset(1).from(a.region, 0, 8));
        a.queuePair.postReceive(new ReceiveWorkRequest().reset(2).into(a.region));
        for (int id = 1; id <= 2; id++) {
            WorkCompletion completion = a.completion();
            assertThat(completion.id()).isEqualTo(id);
            assertThat(completion.status()).isEqualTo(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        }
    }

    @Test
    void silentPeerFailsTheQueuePairAfterAllRetries() {
        TestDevices.require(Capability.DIRECT_CONNECTIONS);
        TestEndpoint.toInit(a.queuePair);
        a.toReadyToReceive(a.queuePair, TestDevices.freshAddress(), 100, 0);
        a.queuePair.modify(to(QueuePairState.READY_TO_SEND)
                .sendPsn(a.psn)
                .maxReadAtomic(1)
                .retryCount(TestDevices.driver() == Driver.RXE ? 3 : 7) // rxe repeats without end with 7
                .rnrRetry(7)
                .timeout(14));
        a.queuePair.postWrite(1, a.region, 0, 8, new RemoteMemory(0, 0, 8));
        assertThat(a.completion().status()).isEqualTo(CompletionStatus.RETRY_EXCEEDED_ERROR);
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void resetQueuePairCanBeConnectedAgain() {
        DirectConnections.connect(a, b);
        a.queuePair.modify(to(QueuePairState.RESET));
        b.queuePair.modify(to(QueuePairState.RESET));
        DirectConnections.connect(a, b);
        a.queuePair.postWrite(1, a.region, 0, 8, b.region.remote());
        assertThat(a.completion().isSuccess()).isTrue();
    }

    @Test
    @NotOn(value = Driver.RXE, because = "does not report access violations to the owner of the memory")
    void accessViolationIsReportedToTheOwnerOfTheMemory() {
        DirectConnections.connect(a, b);
        a.queuePair.postWrite(1, a.region, 0, 8, new RemoteMemory(b.region.address(), ~b.region.remoteKey(), 8));
        assertThat(a.completion().isSuccess()).isFalse();
        AsyncEvent event = b.context.awaitAsyncEvent(Duration.ofSeconds(10));
        while (event != null && event.type() == AsyncEvent.Type.COMMUNICATION_ESTABLISHED) {
            event = b.context.awaitAsyncEvent(Duration.ofSeconds(10));
        }
        assertThat(event).isEqualTo(new AsyncEvent(AsyncEvent.Type.QUEUE_PAIR_ACCESS_ERROR, b.queuePair));
    }

    @Test
    void closingWaitsForTheAcknowledgementOfATakenEvent() throws InterruptedException {
        DirectConnections.connect(a, b);
        a.queuePair.modify(to(QueuePairState.SEND_QUEUE_DRAINED).notifyWhenDrained(true));
        AsyncEvent event = Objects.requireNonNull(a.context.takeAsyncEvent(Duration.ofSeconds(10)));
        assertThat(event).isEqualTo(new AsyncEvent(AsyncEvent.Type.SEND_QUEUE_DRAINED, a.queuePair));
        Thread closer = Thread.ofPlatform().start(a.queuePair::close);
        assertThat(closer.join(Duration.ofMillis(100))).isFalse();
        a.context.acknowledge(event);
        assertThat(closer.join(Duration.ofSeconds(10))).isTrue();
        assertRefused(Errno.EINVAL, "no event", () -> a.context.acknowledge(event));
    }

    @Test
    @NotOn(value = Driver.RXE, because = "does not fail the queue pairs of a completion queue that has overrun")
    void overrunFailsOneCompletionQueueAndItsQueuePairsOnly() {
        TestEndpoint small = new TestEndpoint(address, 4096, 2);
        try (small) {
            DirectConnections.connect(small, b);
            QueuePair other = b.domain.createQueuePair(
                    QueuePairInitAttributes.reliable(b.completions, TestEndpoint.CAPABILITIES));
            DirectConnections.connect(a, a.queuePair, b, other);
            int many = small.completions.capacity() + 1;
            for (int i = 0; i < many; i++) {
                small.queuePair.postWrite(i, small.region, 0, 8, b.region.remote());
            }
            assertThat(small.context.awaitAsyncEvent(Duration.ofSeconds(10)))
                    .isEqualTo(new AsyncEvent(AsyncEvent.Type.COMPLETION_QUEUE_ERROR, small.completions));
            assertThat(small.queuePair.state()).isEqualTo(QueuePairState.ERROR);
            WorkCompletion[] all = WorkCompletion.array(many);
            Set<Long> ids = new HashSet<>();
            int polled = small.completions.poll(all);
            for (int i = 0; i < polled; i++) {
                assertThat(ids.add(all[i].id())).isTrue();
            }
            assertRefused(Errno.EIO, "overrun", () -> small.completions.poll(all));
            assertThat(small.context.awaitAsyncEvent(Duration.ZERO)).isNull();
            a.queuePair.postWrite(1, a.region, 0, 8, b.region.remote());
            assertThat(a.completion().isSuccess()).isTrue();
        }
    }

    @Test
    @NotOn(value = Driver.RXE, because = "does not resume a drained send queue")
    void drainedSendQueueKeepsPostedWorkUntilItIsReadyToSendAgain() {
        DirectConnections.connect(a, b);
        a.queuePair.modify(to(QueuePairState.SEND_QUEUE_DRAINED).notifyWhenDrained(true));
        AsyncEvent drained = new AsyncEvent(AsyncEvent.Type.SEND_QUEUE_DRAINED, a.queuePair);
        assertThat(a.context.awaitAsyncEvent(Duration.ofSeconds(10))).isEqualTo(drained);
        assertThat(a.queuePair.query().isDraining()).isFalse();
        a.queuePair.postWrite(1, a.region, 0, 8, b.region.remote());
        b.queuePair.postWrite(2, b.region, 0, 8, a.region.remote());
        assertThat(b.completion().isSuccess()).isTrue();
        assertThat(a.completions.poll(WorkCompletion.array(1))).isZero();
        a.queuePair.modify(new QueuePairAttributes().timeout(18).retryCount(3).minRnrTimer(2));
        a.queuePair.modify(to(QueuePairState.READY_TO_SEND).currentState(QueuePairState.SEND_QUEUE_DRAINED));
        assertThat(a.completion().isSuccess()).isTrue();
        QueuePairAttributes now = a.queuePair.query();
        assertThat(now.timeout()).isEqualTo(18);
        assertThat(now.retryCount()).isEqualTo(3);
        assertThat(now.sendPsn()).isEqualTo(a.psn + 1);
        assertThat(now.receivePsn()).isEqualTo(b.psn + 1);
    }

    @Test
    void drainedQueuePairCanChangeItsPath() {
        DirectConnections.connect(a, b);
        InetAddress elsewhere = TestDevices.anotherAddressThan(address);
        try (TestEndpoint other = new TestEndpoint(elsewhere)) {
            // The peer moves to another address of its host, and informs this side.
            for (TestEndpoint each : new TestEndpoint[] {a, b}) {
                each.queuePair.modify(to(QueuePairState.SEND_QUEUE_DRAINED));
            }
            AddressVector toB = AddressVector.of(a.gidIndex(), Gid.of(elsewhere));
            a.queuePair.modify(new QueuePairAttributes().addressVector(toB));
            b.queuePair.modify(
                    new QueuePairAttributes().addressVector(AddressVector.of(other.gidIndex(), Gid.of(address))));
            for (TestEndpoint each : new TestEndpoint[] {a, b}) {
                each.queuePair.modify(to(QueuePairState.READY_TO_SEND));
            }
            a.queuePair.postWrite(1, a.region, 0, 8, b.region.remote());
            assertThat(a.completion().isSuccess()).isTrue();
            assertThat(a.queuePair.query().addressVector()).isEqualTo(toB);
        }
    }

    @Test
    @NotOn(value = Driver.RXE, because = "flushes no request of a draining send queue")
    void drainingSendQueueAllowsOnlyResetAndError() {
        TestDevices.require(Capability.DIRECT_CONNECTIONS);
        a.connect(TestDevices.freshAddress(), 100, 0);
        a.queuePair.postWrite(1, a.region, 0, 8, new RemoteMemory(0, 0, 8));
        // Work that was posted but not begun does not have to be drained. The query has the device begin it.
        assertThat(a.queuePair.query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
        a.queuePair.modify(to(QueuePairState.SEND_QUEUE_DRAINED));
        assertThat(a.queuePair.query().isDraining()).isTrue();
        assertRefused(Errno.EINVAL, "still draining", () -> a.queuePair.modify(to(QueuePairState.READY_TO_SEND)));
        a.queuePair.modify(to(QueuePairState.ERROR));
        assertThat(a.completion().status()).isEqualTo(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
    }

    @Test
    void changeFromAStateThatIsNotTheCurrentOneIsRefused() {
        DirectConnections.connect(a, b);
        assertRefused(
                Errno.EINVAL,
                "its state is READY_TO_SEND, but CURRENT_STATE is SEND_QUEUE_ERROR",
                () -> a.queuePair.modify(
                        to(QueuePairState.READY_TO_SEND).currentState(QueuePairState.SEND_QUEUE_ERROR)));
        assertRefused(
                Errno.EINVAL,
                "cannot go from READY_TO_SEND to INIT, only to [RESET, READY_TO_SEND, SEND_QUEUE_DRAINED, ERROR]",
                () -> a.queuePair.modify(to(QueuePairState.INIT)));
    }

    @Test
    @NotOn(value = Driver.RXE, because = "checks attributes, since Linux 6.12, only in changes of the state")
    void attributesOfAnotherTypeAreRefused() {
        DirectConnections.connect(a, b);
        assertRefused(
                Errno.EINVAL,
                "does not take [QUEUE_KEY]; it needs nothing and may have [CURRENT_STATE, ACCESS_FLAGS",
                () -> a.queuePair.modify(new QueuePairAttributes().queueKey(1)));
    }

    @Test
    void objectsInUseCannotBeClosed() {
        assertRefused(Errno.EBUSY, "queue pairs", a.domain::close);
        assertRefused(Errno.EBUSY, "queue", a.completions::close);
        a.queuePair.close();
        a.completions.close();
        assertRefused(Errno.EBUSY, "1 memory regions", a.domain::close);
        a.region.close();
        a.domain.close();
        a.channel.close();
    }

    @Test
    void capabilitiesOutOfRangeAreRefused() {
        int tooMany = a.context.attributes().maxQueuePairWorkRequests() + 1;
        assertRefused(
                Errno.EINVAL,
                "max_send_wr " + tooMany,
                () -> a.domain.createQueuePair(QueuePairInitAttributes.reliable(
                        a.completions, new QueuePairCapabilities(tooMany, 1, 1, 1, 0))));
        assertRefused(
                Errno.EINVAL,
                "another device",
                () -> a.domain.createQueuePair(
                        QueuePairInitAttributes.reliable(b.completions, TestEndpoint.CAPABILITIES)));
        assertRefused(Errno.EINVAL, "0 entries", () -> a.context.createCompletionQueue(0));
    }

    @Test
    void invalidRequestsAreRefusedBeforeTheyAreQueued() {
        DirectConnections.connect(a, b);
        SendWorkRequest pieces = new SendWorkRequest().reset(1);
        for (int i = 0; i <= a.queuePair.capabilities().maxSendScatterGather(); i++) {
            pieces.from(a.region, i, 1);
        }
        assertRefused(Errno.EINVAL, "5 pieces", () -> a.queuePair.postSend(pieces));
        int tooLong = a.queuePair.capabilities().maxInlineBytes() + 1;
        assertRefused(
                Errno.EINVAL,
                "65 inline bytes",
                () -> a.queuePair.postSend(new SendWorkRequest()
                        .reset(1)
                        .from(a.region, 0, tooLong)
                        .inline()));
    }

    @Test
    void requestsThatCannotSucceedAreRefusedBeforeTheyAreQueued() {
        TestDevices.require(Capability.CHECKED_REGIONS);
        DirectConnections.connect(a, b);
        assertRefused(
                Errno.EINVAL,
                "another protection domain",
                () -> a.queuePair.postSend(new SendWorkRequest().reset(1).from(b.region, 0, 8)));
        assertRefused(
                Errno.EINVAL,
                "8 bytes",
                () -> a.queuePair.postSend(
                        new SendWorkRequest().reset(1).fetchAndAdd(0, 0, 1).from(a.region, 0, 4)));
    }
}
