package io.rdma4j.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Operations complete at their completion queues, for all pairs of completion vectors. */
@Timeout(60)
class CompletionVectorsTest {
    private static final int BYTES = 3000;
    private static final int PACKET_BYTES = 1000;
    private static final int ROUTE_BYTES = 40;
    private static final int KEY = TestEndpoint.QUEUE_KEY;

    private TestEndpoint side;
    private final List<AutoCloseable> opened = new ArrayList<>();

    @BeforeEach
    void open() {
        side = new TestEndpoint(TestDevices.freshAddress());
    }

    @AfterEach
    void close() {
        side.close();
    }

    /** Pairs of vectors: each with itself, with the next one and with the first one. */
    private List<int[]> pairs() {
        int vectors = side.context.completionVectors();
        List<int[]> pairs = new ArrayList<>();
        for (int vector = 0; vector < vectors; vector++) {
            pairs.add(new int[] {vector, vector});
            if (vectors > 1) {
                pairs.add(new int[] {vector, (vector + 1) % vectors});
                pairs.add(new int[] {vector, 0});
            }
        }
        return pairs;
    }

    private QueuePair queuePair(QueuePairType type, CompletionQueue sends, CompletionQueue receives) {
        QueuePair queuePair =
                side.domain.createQueuePair(QueuePairInitAttributes.of(type, sends, TestEndpoint.CAPABILITIES)
                        .withReceiveCompletions(receives));
        opened.add(queuePair);
        return queuePair;
    }

    private void connect(QueuePair local, QueuePair remote) {
        if (local.type() == QueuePairType.RELIABLE_CONNECTION) {
            side.connect(local, side.address, remote.number(), side.psn);
            return;
        }
        TestEndpoint.toInit(local);
        local.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(AddressVector.of(side.gidIndex(), Gid.of(side.address)))
                .pathMtu(PathMtu.MTU_1024)
                .destinationQueuePair(remote.number())
                .receivePsn(side.psn));
        local.modify(
                new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(side.psn));
    }

    /** Polls one queue only, until a send and a receive have completed there. */
    private static void sendAndReceiveComplete(CompletionQueue queue, int receivedBytes) {
        WorkCompletion[] one = WorkCompletion.array(1);
        List<CompletionOpcode> done = new ArrayList<>();
        long giveUp = System.nanoTime() + 10_000_000_000L;
        while (done.size() < 2) {
            assertThat(System.nanoTime())
                    .as("done at vector %s: %s", queue.completionVector(), done)
                    .isLessThan(giveUp);
            if (queue.poll(one) == 1) {
                assertThat(one[0].status()).isEqualTo(CompletionStatus.SUCCESS);
                if (one[0].opcode() == CompletionOpcode.RECEIVE) {
                    assertThat(one[0].byteLength()).isEqualTo(receivedBytes);
                }
                done.add(one[0].opcode());
            }
        }
        assertThat(done).containsExactlyInAnyOrder(CompletionOpcode.SEND, CompletionOpcode.RECEIVE);
    }

    private void send(QueuePair from, QueuePair to) {
        to.postReceive(new ReceiveWorkRequest().reset(1).into(side.region, 1 << 16, BYTES));
        from.postSend(new SendWorkRequest().reset(2).from(side.region, 0, BYTES).signaled());
    }

    private void closeQueuePairs() throws Exception {
        for (AutoCloseable each : opened) {
            each.close();
        }
        opened.clear();
    }

    @ParameterizedTest
    @EnumSource(names = {"RELIABLE_CONNECTION", "UNRELIABLE_CONNECTION"})
    void pollingOneQueueFindsItsCompletionsForAllVectorsOfBothEnds(QueuePairType type) throws Exception {
        TestDevices.require(Capability.DIRECT_CONNECTIONS);
        if (type == QueuePairType.UNRELIABLE_CONNECTION) {
            TestDevices.require(Capability.UNRELIABLE_CONNECTIONS);
        }
        for (int[] pair : pairs()) {
            try (CompletionQueue here = side.context.createCompletionQueue(16, null, null, pair[0]);
                    CompletionQueue there = side.context.createCompletionQueue(16, null, null, pair[1])) {
                // The send of one end and the receive of the other complete at one queue.
                QueuePair first = queuePair(type, here, there);
                QueuePair second = queuePair(type, there, here);
                connect(first, second);
                connect(second, first);
                for (int i = 0; i < 5; i++) {
                    send(first, second);
                    sendAndReceiveComplete(here, BYTES);
                    send(second, first);
                    sendAndReceiveComplete(there, BYTES);
                }
                closeQueuePairs();
            }
        }
    }

    @Test
    void datagramsCompleteAtEveryVector() throws Exception {
        TestDevices.require(Capability.DATAGRAMS);
        AddressVector path = AddressVector.of(side.gidIndex(), Gid.of(side.address));
        for (int vector = 0; vector < side.context.completionVectors(); vector++) {
            try (CompletionQueue queue = side.context.createCompletionQueue(16, null, null, vector);
                    AddressHandle to = side.domain.createAddressHandle(path)) {
                QueuePair queuePair = side.datagramQueuePair(queue);
                opened.add(queuePair);
                queuePair.postReceive(
                        new ReceiveWorkRequest().reset(1).into(side.region, 1 << 16, ROUTE_BYTES + PACKET_BYTES));
                queuePair.postSend(new SendWorkRequest()
                        .reset(2)
                        .from(side.region, 0, PACKET_BYTES)
                        .to(to, queuePair.number(), KEY)
                        .signaled());
                sendAndReceiveComplete(queue, ROUTE_BYTES + PACKET_BYTES);
                closeQueuePairs();
            }
        }
    }

    @Test
    void threadThatWaitsAtAChannelIsWokenByEveryVector() throws Exception {
        TestDevices.require(Capability.DIRECT_CONNECTIONS);
        for (int[] pair : pairs()) {
            try (CompletionQueue here = side.context.createCompletionQueue(16, null, null, pair[0]);
                    CompletionQueue there = side.context.createCompletionQueue(16, null, side.channel, pair[1])) {
                QueuePair first = queuePair(QueuePairType.RELIABLE_CONNECTION, here, here);
                QueuePair second = queuePair(QueuePairType.RELIABLE_CONNECTION, there, there);
                connect(first, second);
                connect(second, first);
                for (int i = 0; i < 5; i++) {
                    there.requestNotification(false);
                    send(first, second);
                    CompletionQueue ready = side.channel.await(Duration.ofSeconds(10));
                    assertThat(ready).isSameAs(there);
                    Objects.requireNonNull(ready).acknowledgeEvents(1);
                    WorkCompletion[] received = WorkCompletion.array(2);
                    assertThat(there.poll(received)).isEqualTo(1);
                    assertThat(received[0].opcode()).isEqualTo(CompletionOpcode.RECEIVE);
                }
                closeQueuePairs();
            }
        }
    }

    @Test
    void resizingKeepsTheVector() {
        TestDevices.require(Capability.RESIZABLE_COMPLETION_QUEUES);
        int last = side.context.completionVectors() - 1;
        try (CompletionQueue queue = side.context.createCompletionQueue(16, null, null, last)) {
            queue.resize(100);
            assertThat(queue.completionVector()).isEqualTo(last);
        }
    }
}
