package io.rdma4j.conformance.verbs;

import static io.rdma4j.conformance.device.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionOpcode;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Datagram queue pairs. */
class DatagramTest {
    private static final int KEY = TestEndpoint.QUEUE_KEY;
    private static final int ROUTE = 40;
    private static final int BYTES = 1000;

    @BeforeEach
    void require() {
        TestDevices.require(Capability.DATAGRAMS);
    }

    private static QueuePair datagrams(TestEndpoint side) {
        return side.datagramQueuePair(side.completions);
    }

    private static AddressHandle handle(TestEndpoint from, TestEndpoint to) {
        return from.domain.createAddressHandle(AddressVector.of(from.gidIndex(), Gid.of(to.address)));
    }

    private static SendWorkRequest message(TestEndpoint from, long id, int bytes, AddressHandle handle, QueuePair to) {
        return new SendWorkRequest()
                .reset(id)
                .from(from.region, 0, bytes)
                .to(handle, to.number(), KEY)
                .signaled();
    }

    private record Scene(TestEndpoint a, QueuePair qpA, TestEndpoint b, QueuePair qpB, AddressHandle toB) {}

    private static void between(InetAddress addressA, InetAddress addressB, Consumer<Scene> test) {
        try (TestEndpoint a = new TestEndpoint(addressA);
                TestEndpoint b = new TestEndpoint(addressB)) {
            for (int i = 0; i < BYTES; i++) {
                a.memory.set(ValueLayout.JAVA_BYTE, i, (byte) (i * 13));
            }
            test.accept(new Scene(a, datagrams(a), b, datagrams(b), handle(a, b)));
        }
    }

    private static WorkCompletion succeeds(TestEndpoint side, long id, CompletionOpcode opcode) {
        WorkCompletion completion = side.completion();
        assertThat(completion.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(completion.id()).isEqualTo(id);
        assertThat(completion.opcode()).isEqualTo(opcode);
        return completion;
    }

    /** Sends a datagram, which arrives behind its route header, and replies to it. */
    private static void exchange(Scene s) {
        s.qpB.postReceive(new ReceiveWorkRequest().reset(1).into(s.b.region));
        s.qpA.postSend(message(s.a, 2, BYTES, s.toB, s.qpB).withImmediate(0xbeef));
        succeeds(s.a, 2, CompletionOpcode.SEND);
        WorkCompletion received = succeeds(s.b, 1, CompletionOpcode.RECEIVE);
        assertThat(received.byteLength()).isEqualTo(ROUTE + BYTES);
        assertThat(received.hasGlobalRoute()).isTrue();
        assertThat(received.sourceQueuePairNumber()).isEqualTo(s.qpA.number());
        assertThat(received.immediate()).isEqualTo(0xbeef);
        assertThat(received.timestampNanos()).isLessThanOrEqualTo(System.nanoTime());
        assertThat(s.a.memory.asSlice(0, BYTES).mismatch(s.b.memory.asSlice(ROUTE, BYTES)))
                .isEqualTo(-1);
        AddressHandle back = s.b.domain.createAddressHandle(received, s.b.memory, 1);
        assertThat(back.addressVector().destination()).isEqualTo(Gid.of(s.a.address));
        s.qpA.postReceive(new ReceiveWorkRequest().reset(3).into(s.a.region, 2000, 100));
        s.qpB.postSend(message(s.b, 4, 60, back, s.qpA));
        succeeds(s.b, 4, CompletionOpcode.SEND);
        assertThat(succeeds(s.a, 3, CompletionOpcode.RECEIVE).byteLength()).isEqualTo(100);
    }

    @Test
    void datagramIsAnswered() {
        InetAddress address = TestDevices.freshAddress();
        between(address, TestDevices.peerOf(address), DatagramTest::exchange);
    }

    @Test
    void datagramIsAnsweredBetweenTwoAddresses() {
        InetAddress address = TestDevices.freshAddress();
        between(address, TestDevices.anotherAddressThan(address), DatagramTest::exchange);
    }

    @Test
    void datagramIsAnsweredOverIpv6() {
        InetAddress address = TestDevices.ipv6Address();
        between(address, address, DatagramTest::exchange);
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.conformance.device.TestDevices#addressOfEachFamily")
    @NotOn(value = Driver.RXE, because = "ends the receive of a datagram that is too long with an error")
    void datagramTooLongForTheReceiveIsDroppedAndTheReceiveStays(InetAddress address) {
        between(address, address, s -> {
            s.qpB.postReceive(new ReceiveWorkRequest().reset(1).into(s.b.region, 0, ROUTE + 99));
            s.qpA.postSend(message(s.a, 2, 100, s.toB, s.qpB));
            succeeds(s.a, 2, CompletionOpcode.SEND);
            s.qpA.postSend(message(s.a, 3, 99, s.toB, s.qpB));
            succeeds(s.a, 3, CompletionOpcode.SEND);
            assertThat(succeeds(s.b, 1, CompletionOpcode.RECEIVE).byteLength()).isEqualTo(ROUTE + 99);
        });
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.conformance.device.TestDevices#addressOfEachFamily")
    void datagramWithAnotherQueueKeyIsDropped(InetAddress address) {
        between(address, address, s -> {
            long violations = s.b.context.port(1).queueKeyViolations();
            s.qpB.postReceive(new ReceiveWorkRequest().reset(1).into(s.b.region));
            s.qpA.postSend(message(s.a, 2, 10, s.toB, s.qpB).to(s.toB, s.qpB.number(), KEY + 1));
            succeeds(s.a, 2, CompletionOpcode.SEND);
            s.qpA.postSend(message(s.a, 3, 20, s.toB, s.qpB));
            succeeds(s.a, 3, CompletionOpcode.SEND);
            assertThat(succeeds(s.b, 1, CompletionOpcode.RECEIVE).byteLength()).isEqualTo(ROUTE + 20);
            if (s.b.context.attributes().capabilities().contains(DeviceCapability.BAD_QUEUE_KEY_COUNTER)) {
                assertThat(s.b.context.port(1).queueKeyViolations()).isGreaterThan(violations);
            }
        });
    }

    @Test
    @NotOn(value = Driver.RXE, because = "sends a queue key with the highest bit as it is")
    void queueKeyWithTheHighestBitSelectsTheSendersOwn() {
        InetAddress address = TestDevices.freshAddress();
        between(address, TestDevices.peerOf(address), s -> {
            s.qpB.postReceive(new ReceiveWorkRequest().reset(1).into(s.b.region));
            s.qpA.postSend(message(s.a, 2, 20, s.toB, s.qpB).to(s.toB, s.qpB.number(), 0x8000_0000));
            succeeds(s.a, 2, CompletionOpcode.SEND);
            assertThat(succeeds(s.b, 1, CompletionOpcode.RECEIVE).byteLength()).isEqualTo(ROUTE + 20);
        });
    }

    @Test
    void datagramToAnAddressOfAnotherDeviceIsDropped() {
        try (TestEndpoint inside = new TestEndpoint(TestDevices.freshAddress());
                TestEndpoint outside = new TestEndpoint(TestDevices.addressOfAnotherDevice())) {
            QueuePair hidden = datagrams(inside);
            QueuePair open = datagrams(outside);
            hidden.postReceive(new ReceiveWorkRequest().reset(1).into(inside.region));
            open.postReceive(new ReceiveWorkRequest().reset(2).into(outside.region));
            AddressHandle toOutside = handle(outside, outside);
            open.postSend(message(outside, 3, 10, toOutside, hidden));
            open.postSend(message(outside, 4, 20, toOutside, open)); // arrives after the other
            Set<Long> done = new HashSet<>();
            while (done.size() < 3) {
                done.add(outside.completion().id());
            }
            assertThat(done).containsExactlyInAnyOrder(2L, 3L, 4L);
            assertThat(inside.completions.poll(WorkCompletion.array(1))).isZero();
        }
    }

    @Test
    @NotOn(value = Driver.RXE, because = "drops a datagram that is longer than the path MTU with success")
    void datagramLongerThanThePathMtuFailsAndStopsOnlyTheSendQueue() {
        InetAddress address = TestDevices.freshAddress();
        between(address, TestDevices.peerOf(address), s -> {
            int longest = s.a.context.port(1).activeMtu().bytes();
            s.qpA.postSend(message(s.a, 1, longest, s.toB, s.qpB));
            succeeds(s.a, 1, CompletionOpcode.SEND);
            s.qpA.postSend(message(s.a, 2, longest + 1, s.toB, s.qpB));
            assertThat(s.a.completion().status()).isEqualTo(CompletionStatus.LOCAL_LENGTH_ERROR);
            assertThat(s.qpA.state()).isEqualTo(QueuePairState.SEND_QUEUE_ERROR);
            s.qpA.postSend(message(s.a, 3, 10, s.toB, s.qpB));
            assertThat(s.a.completion().status()).isEqualTo(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
            s.qpA.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_SEND));
            s.qpA.postSend(message(s.a, 4, 10, s.toB, s.qpB));
            succeeds(s.a, 4, CompletionOpcode.SEND);
        });
    }

    @Test
    void datagramsToSeveralDestinationsReachEach() {
        InetAddress address = TestDevices.freshAddress();
        between(address, TestDevices.peerOf(address), s -> {
            AddressHandle other = s.a.domain.createAddressHandle(
                    AddressVector.of(s.a.gidIndex(), Gid.of(s.b.address)).withTrafficClass(3));
            for (int i = 0; i < 40; i++) {
                s.qpB.postReceive(new ReceiveWorkRequest().reset(i).into(s.b.region, 2048L * i, 2048));
            }
            for (int i = 0; i < 40; i++) {
                s.qpA.postSend(message(s.a, i, 100 + 20 * (i % 7), i % 3 == 0 ? other : s.toB, s.qpB));
            }
            for (int i = 0; i < 40; i++) {
                succeeds(s.a, i, CompletionOpcode.SEND);
                assertThat(succeeds(s.b, i, CompletionOpcode.RECEIVE).byteLength())
                        .isEqualTo(ROUTE + 100 + 20 * (i % 7));
            }
        });
    }

    @Test
    void onlySendsWithADestinationCanBePosted() {
        InetAddress address = TestDevices.freshAddress();
        between(address, TestDevices.peerOf(address), s -> {
            assertRefused(
                    Errno.EINVAL,
                    "no destination",
                    () -> s.qpA.postSend(new SendWorkRequest().reset(1).from(s.a.region, 0, 8)));
            assertRefused(
                    Errno.EINVAL,
                    "as a datagram",
                    () -> s.qpA.postSend(message(s.a, 1, 8, s.toB, s.qpB).write(1, 2)));
            s.toB.close();
            assertThatThrownBy(() -> s.qpA.postSend(message(s.a, 1, 8, s.toB, s.qpB)))
                    .isInstanceOf(RdmaException.class)
                    .hasMessageContaining("closed");
        });
    }

    @Test
    void destinationOfAnotherDomainIsRefused() {
        TestDevices.require(Capability.CHECKED_REGIONS);
        InetAddress address = TestDevices.freshAddress();
        between(address, TestDevices.peerOf(address), s -> {
            AddressHandle ofB = handle(s.b, s.a);
            assertThatThrownBy(() -> s.qpA.postSend(message(s.a, 1, 8, ofB, s.qpB)))
                    .isInstanceOf(RdmaException.class)
                    .hasMessageContaining("another protection domain");
        });
    }
}
