package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.link.Link;
import io.rdma4j.soft.device.StackAccess;
import io.rdma4j.soft.engine.Engine;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages of an unreliable connection wait for a process of this host that does not keep up with reading shared memory. */
@Timeout(60)
class SlowReaderTest {
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("127.0.83.3");
    private static final int MESSAGES = 40;
    private static final int MESSAGE_BYTES = 1 << 16; // more than twice a ring altogether
    private static final long SHORT_NANOS = 50_000_000;

    private final SoftStack one = SoftStack.create();
    private final SoftStack other = SoftStack.create();
    private final TestEndpoint sender = endpoint(one);
    private final TestEndpoint receiver = endpoint(other);
    private final QueuePair from = create(sender);
    private final QueuePair to = create(receiver);

    private static TestEndpoint endpoint(SoftStack stack) {
        return new TestEndpoint(stack.deviceOf(ADDRESS).orElseThrow().open(), ADDRESS);
    }

    private static QueuePair create(TestEndpoint end) {
        return end.domain.createQueuePair(QueuePairInitAttributes.of(
                QueuePairType.UNRELIABLE_CONNECTION, end.completions, TestEndpoint.CAPABILITIES));
    }

    private static void connect(TestEndpoint end, QueuePair own, TestEndpoint peer, QueuePair remote) {
        own.modify(new QueuePairAttributes()
                .state(QueuePairState.INIT)
                .partitionKeyIndex(0)
                .port(1)
                .accessFlags(Set.of()));
        own.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_RECEIVE)
                .addressVector(AddressVector.of(end.gidIndex(), Gid.of(peer.address)))
                .pathMtu(PathMtu.MTU_1024)
                .destinationQueuePair(remote.number())
                .receivePsn(peer.psn));
        own.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_SEND).sendPsn(end.psn));
    }

    @BeforeEach
    void connectAndSendOneMessage() {
        assumeTrue(Files.exists(Path.of("/proc/self/maps"))
                && Link.class.getModule().isNativeAccessEnabled());
        connect(sender, from, receiver, to);
        connect(receiver, to, sender, from);
        for (int i = 0; i < MESSAGES + 1; i++) {
            to.postReceive(new ReceiveWorkRequest().reset(i).into(receiver.region));
        }
        send(0);
        assertThat(sender.completion().isSuccess()).isTrue();
        assertThat(receiver.completion().isSuccess()).isTrue();
    }

    @AfterEach
    void close() {
        sender.close();
        receiver.close();
        one.close();
        other.close();
    }

    private void send(long id) {
        from.postSend(new SendWorkRequest()
                .reset(id)
                .from(sender.region, 0, MESSAGE_BYTES)
                .signaled());
    }

    /** Posts the messages while the receiver does nothing for some time. */
    private void sendWhileTheReceiverRests(long nanos) {
        Engine engine = StackAccess.devices(other).engine();
        engine.lock();
        try {
            for (int i = 1; i <= MESSAGES; i++) {
                send(i);
            }
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < nanos) {
                StackAccess.devices(one).engine().poll();
            }
        } finally {
            engine.unlock();
        }
    }

    @Test
    void noMessageIsLostDuringAShortPauseOfTheReader() {
        sendWhileTheReceiverRests(SHORT_NANOS);
        for (int i = 1; i <= MESSAGES; i++) {
            assertThat(sender.completion().isSuccess()).isTrue();
        }
        for (int i = 1; i <= MESSAGES; i++) {
            assertThat(receiver.completion().id()).isEqualTo(i);
        }
    }

    @Test
    void senderIsNotDelayedForLongByAReaderThatDoesNotRead() {
        sendWhileTheReceiverRests(20 * SHORT_NANOS);
        WorkCompletion[] completion = WorkCompletion.array(1);
        for (int i = 1; i <= MESSAGES; i++) {
            assertThat(sender.completions.poll(completion)).isEqualTo(1);
        }
    }
}
