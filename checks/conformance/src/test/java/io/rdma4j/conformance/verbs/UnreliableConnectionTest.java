package io.rdma4j.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Unreliable connections of the public API, between two queue pairs of one process. */
@Timeout(30)
class UnreliableConnectionTest {
    private static final int BYTES = 10_000;

    private TestEndpoint a;
    private TestEndpoint b;
    private QueuePair qpA;
    private QueuePair qpB;

    @BeforeEach
    void connect() {
        TestDevices.require(Capability.UNRELIABLE_CONNECTIONS);
        a = new TestEndpoint(TestDevices.freshAddress());
        b = new TestEndpoint(TestDevices.peerOf(a.address));
        qpA = unreliable(a);
        qpB = unreliable(b);
        connect(a, qpA, b, qpB);
        connect(b, qpB, a, qpA);
        for (int i = 0; i < BYTES; i++) {
            a.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 31));
        }
    }

    @AfterEach
    void close() {
        if (a != null) { // the device has the feature
            a.close();
            b.close();
        }
    }

    private static QueuePair unreliable(TestEndpoint side) {
        return side.domain.createQueuePair(QueuePairInitAttributes.of(
                QueuePairType.UNRELIABLE_CONNECTION, side.completions, TestEndpoint.CAPABILITIES));
    }

    private static QueuePairAttributes readyToReceive(TestEndpoint side, TestEndpoint peer, QueuePair remote) {
        return new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(AddressVector.of(side.gidIndex(), Gid.of(peer.address)))
                .pathMtu(PathMtu.MTU_1024)
                .destinationQueuePair(remote.number())
                .receivePsn(peer.psn);
    }

    private static void connect(TestEndpoint side, QueuePair local, TestEndpoint peer, QueuePair remote) {
        TestEndpoint.toInit(local);
        local.modify(readyToReceive(side, peer, remote));
        local.modify(
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(side.psn));
    }

    private static WorkCompletion succeeds(TestEndpoint side, long id, CompletionOpcode opcode) {
        WorkCompletion completion = side.completion();
        assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(completion.id()).isEqualTo(id);
        assertThat(completion.opcode()).isEqualTo(opcode);
        return completion;
    }

    private void assertArrived() {
        assertThat(a.memory.asSlice(0, BYTES).mismatch(b.memory.asSlice(0, BYTES)))
                .isEqualTo(-1);
    }

    @Test
    void sentMessageTakesOneReceive() {
        assertThat(qpA.type()).isEqualTo(QueuePairType.UNRELIABLE_CONNECTION);
        qpB.postReceive(new ReceiveWorkRequest().reset(1).into(b.region));
        qpA.postSend(new SendWorkRequest()
                .reset(2)
                .withImmediate(77)
                .from(a.region, 0, BYTES)
                .signaled());
        succeeds(a, 2, CompletionOpcode.SEND);
        WorkCompletion received = succeeds(b, 1, CompletionOpcode.RECEIVE);
        assertThat(received.byteLength()).isEqualTo(BYTES);
        assertThat(received.immediate()).isEqualTo(77);
        assertThat(received.queuePairNumber()).isEqualTo(qpB.number());
        assertArrived();
    }

    @Test
    void writeWithImmediateLandsAndTakesAReceive() {
        qpB.postReceive(new ReceiveWorkRequest().reset(3));
        qpA.postSend(new SendWorkRequest()
                .reset(4)
                .write(b.region.address(), b.region.remoteKey())
                .withImmediate(0xcafe)
                .from(a.region, 0, BYTES)
                .signaled());
        succeeds(a, 4, CompletionOpcode.RDMA_WRITE);
        assertThat(succeeds(b, 3, CompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE).immediate())
                .isEqualTo(0xcafe);
        assertArrived();
    }

    @Test
    void messageWithoutReceiveIsSilentlyDropped() {
        qpA.postSend(new SendWorkRequest().reset(5).from(a.region, 0, 8).signaled());
        succeeds(a, 5, CompletionOpcode.SEND);
        // The write after it shows that the lost message was processed before the receive is posted.
        qpA.postWrite(6, a.region, 0, BYTES, b.region.remote());
        succeeds(a, 6, CompletionOpcode.RDMA_WRITE);
        WorkCompletion[] none = WorkCompletion.array(1);
        long giveUp = System.nanoTime() + 10_000_000_000L;
        while (a.memory.asSlice(0, BYTES).mismatch(b.memory.asSlice(0, BYTES)) != -1) {
            assertThat(b.completions.poll(none)).isZero();
            assertThat(System.nanoTime()).isLessThan(giveUp);
        }
        qpB.postReceive(new ReceiveWorkRequest().reset(7).into(b.region));
        qpA.postSend(new SendWorkRequest().reset(8).from(a.region, 0, 16));
        assertThat(succeeds(b, 7, CompletionOpcode.RECEIVE).byteLength()).isEqualTo(16);
        assertThat(qpA.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    @NotOn(value = Driver.RXE, because = "refuses an operation that needs a response when it is executed")
    void operationsThatNeedAResponseAreRefusedWhenPosted() {
        SendWorkRequest request = new SendWorkRequest();
        long address = b.region.address();
        int key = b.region.remoteKey();
        for (SendWorkRequest each : new SendWorkRequest[] {
            request.reset(1).read(address, key).from(a.region, 0, 8),
            new SendWorkRequest().reset(2).fetchAndAdd(address, key, 1).from(a.region, 0, 8),
            new SendWorkRequest().reset(3).compareAndSwap(address, key, 0, 1).from(a.region, 0, 8),
            new SendWorkRequest().reset(4).withInvalidate(key).from(a.region, 0, 8)
        }) {
            assertThatThrownBy(() -> qpA.postSend(each))
                    .isInstanceOf(RdmaException.class)
                    .hasMessageContaining("over an unreliable connection");
        }
    }

    @Test
    void attributesOfRetriesAndReadsAreRefused() {
        QueuePair created = unreliable(a);
        TestEndpoint.toInit(created);
        assertThatThrownBy(() -> created.modify(readyToReceive(a, b, qpB).minRnrTimer(1)))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("does not take [MIN_RNR_TIMER]");
        created.modify(readyToReceive(a, b, qpB));
        assertThatThrownBy(() -> created.modify(new QueuePairAttributes()
                        .state(QueuePairState.READY_TO_SEND)
                        .retryCount(7)))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("needs [SEND_PSN]")
                .hasMessageContaining("does not take [RETRY_COUNT]");
        created.modify(
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(3));
        assertThat(created.query().sendPsn()).isEqualTo(3);
        assertThat(created.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void errorFlushesPostedWork() {
        qpB.postReceive(new ReceiveWorkRequest().reset(1).into(b.region));
        qpB.modify(new QueuePairAttributes().state(QueuePairState.ERROR));
        WorkCompletion flushed = b.completion();
        assertThat(flushed.status()).isEqualTo(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        assertThat(flushed.id()).isEqualTo(1);
        qpB.postSend(new SendWorkRequest().reset(2).from(b.region, 0, 8));
        assertThat(b.completion().id()).isEqualTo(2);
    }
}
