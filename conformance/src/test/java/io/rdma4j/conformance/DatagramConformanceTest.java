package io.rdma4j.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.rdma4j.verbs.AccessFlag;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.CompletionStatus;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Gid;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Datagrams through the public API, for every provider. */
@Timeout(30)
class DatagramConformanceTest {
    private static final int KEY = 0x1111_1111;
    private static final int ROUTE_BYTES = 40;
    private static final int RECEIVE_AT = 8192;

    /** A datagram queue pair with its resources. */
    private static final class Side implements AutoCloseable {
        private final DeviceContext context;
        private final int gidIndex;
        private final ProtectionDomain domain;
        private final CompletionQueue completions;
        private final QueuePair queuePair;
        private final MemorySegment memory = Arena.ofAuto().allocate(4 * RECEIVE_AT, 8);
        private final MemoryRegion region;

        Side(InetAddress address) {
            context = Device.of(address).orElseThrow().open();
            gidIndex = context.gids(1).indexOf(Gid.of(address));
            domain = context.createProtectionDomain();
            completions = context.createCompletionQueue(16, null, null);
            queuePair = domain.createQueuePair(QueuePairInitAttributes.of(
                    QueuePairType.UNRELIABLE_DATAGRAM, completions, new QueuePairCapabilities(8, 8, 1, 1, 0)));
            region = domain.register(memory, AccessFlag.LOCAL_WRITE);
            queuePair.modify(new QueuePairAttributes()
                    .state(QueuePairState.INIT)
                    .partitionKeyIndex(0)
                    .port(1)
                    .queueKey(KEY));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_RECEIVE));
            queuePair.modify(new QueuePairAttributes()
                    .state(QueuePairState.READY_TO_SEND)
                    .sendPsn(1));
        }

        AddressHandle to(InetAddress address) {
            return domain.createAddressHandle(AddressVector.of(gidIndex, Gid.of(address)));
        }

        void receive(long id, int bytes) {
            queuePair.postReceive(new ReceiveWorkRequest().reset(id).into(region, RECEIVE_AT, bytes));
        }

        void send(AddressHandle to, Side peer, int key, int bytes) {
            queuePair.postSend(new SendWorkRequest()
                    .reset(bytes)
                    .from(region, 0, bytes)
                    .withImmediate(bytes)
                    .to(to, peer.queuePair.number(), key)
                    .signaled());
            assertThat(completion().status()).isEqualTo(CompletionStatus.SUCCESS);
        }

        WorkCompletion completion() {
            WorkCompletion[] one = WorkCompletion.array(1);
            long giveUp = System.nanoTime() + 10_000_000_000L;
            while (completions.poll(one) == 0) {
                assertThat(System.nanoTime()).as("deadline").isLessThan(giveUp);
            }
            return one[0];
        }

        @Override
        public void close() {
            context.close();
        }
    }

    private static InetAddress address(String text) {
        InetAddress address = InetAddress.ofLiteral(text);
        assumeThat(Device.of(address)).isPresent();
        return address;
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void datagramFollowsItsRouteHeaderWhichAddressesTheReply(String text) {
        InetAddress address = address(text);
        try (Side a = new Side(address);
                Side b = new Side(address);
                AddressHandle toB = a.to(address)) {
            for (int i = 0; i < 1000; i++) {
                a.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (3 * i));
            }
            b.receive(7, RECEIVE_AT);
            a.send(toB, b, KEY, 1000);
            WorkCompletion received = b.completion();
            assertThat(received.opcode()).isEqualTo(CompletionOpcode.RECEIVE);
            assertThat(received.id()).isEqualTo(7);
            assertThat(received.byteLength()).isEqualTo(ROUTE_BYTES + 1000);
            assertThat(received.immediate()).isEqualTo(1000);
            assertThat(received.hasGlobalRoute()).isTrue();
            assertThat(received.sourceQueuePairNumber()).isEqualTo(a.queuePair.number());
            assertThat(b.memory.asSlice(RECEIVE_AT + ROUTE_BYTES, 1000).mismatch(a.memory.asSlice(0, 1000)))
                    .isEqualTo(-1);
            a.receive(8, RECEIVE_AT);
            try (AddressHandle back = b.domain.createAddressHandle(received, b.memory.asSlice(RECEIVE_AT), 1)) {
                b.send(back, a, KEY, 3);
            }
            assertThat(a.completion().byteLength()).isEqualTo(ROUTE_BYTES + 3);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"127.0.0.1", "::1"})
    void tooLongOrWrongKeyDatagramsLeaveTheReceiveToTheNext(String text) {
        InetAddress address = address(text);
        try (Side a = new Side(address);
                Side b = new Side(address);
                AddressHandle toB = a.to(address)) {
            b.receive(7, ROUTE_BYTES + 10);
            a.send(toB, b, KEY + 1, 1);
            a.send(toB, b, KEY, 11);
            a.send(toB, b, KEY, 10);
            WorkCompletion received = b.completion();
            assertThat(received.isSuccess()).isTrue();
            assertThat(received.immediate()).isEqualTo(10);
        }
    }
}
