package io.rdma4j.conformance.verbs;

import static io.rdma4j.conformance.device.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.KernelGroups;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Multicast through the verbs: attached queue pairs and the kernel's groups. */
@Timeout(30)
class MulticastTest {
    private static final int GROUP_QUEUE_PAIR = 0xff_ffff;
    private static final int QUEUE_KEY = 0x1111_2222;
    private static final int GRH_BYTES = 40;
    private static final int SLOT_BYTES = 256;
    private static final long QUIET_NANOS = 30_000_000;

    private final Gid group = Gid.of(TestDevices.group());
    private final Gid otherGroup = Gid.of(TestDevices.group());
    private @Nullable DatagramChannel membership;
    private final List<Member> members = new ArrayList<>();

    /** A datagram queue pair with a separate endpoint, ready to send, with receives posted. */
    private final class Member {
        final TestEndpoint endpoint = new TestEndpoint(TestDevices.freshAddress());
        final CompletionQueue received = endpoint.context.createCompletionQueue(64);
        final QueuePair queuePair;

        Member(int queueKey, int receives) {
            this(queueKey, receives, false);
        }

        Member(int queueKey, int receives, boolean blockLoopback) {
            queuePair = endpoint.domain.createQueuePair(QueuePairInitAttributes.of(
                            QueuePairType.UNRELIABLE_DATAGRAM, endpoint.completions, TestEndpoint.CAPABILITIES)
                    .withBlockMulticastLoopback(blockLoopback)
                    .withReceiveCompletions(received));
            queuePair.modify(new QueuePairAttributes()
                    .state(QueuePairState.INIT)
                    .partitionKeyIndex(0)
                    .port(1)
                    .queueKey(queueKey));
            queuePair.modify(new QueuePairAttributes().state(QueuePairState.READY_TO_RECEIVE));
            queuePair.modify(new QueuePairAttributes()
                    .state(QueuePairState.READY_TO_SEND)
                    .sendPsn(0));
            for (int i = 0; i < receives; i++) {
                queuePair.postReceive(
                        new ReceiveWorkRequest().reset(i).into(endpoint.region, (long) i * SLOT_BYTES, SLOT_BYTES));
            }
            members.add(this);
        }

        void send(Gid to, int mark) {
            send(to, mark, QUEUE_KEY, GROUP_QUEUE_PAIR);
        }

        void send(Gid to, int mark, int queueKey, int queuePairNumber) {
            long at = endpoint.memory.byteSize() - 8;
            endpoint.memory.set(ValueLayout.JAVA_INT, at, mark);
            try (AddressHandle handle =
                    endpoint.domain.createAddressHandle(AddressVector.of(endpoint.gidIndex(), to))) {
                queuePair.postSend(new SendWorkRequest()
                        .reset(mark)
                        .to(handle, queuePairNumber, queueKey)
                        .from(endpoint.region, at, 4)
                        .signaled());
                WorkCompletion sent = endpoint.completion();
                assertThat(sent.status()).isEqualTo(CompletionStatus.SUCCESS);
            }
        }

        /** Returns the next received mark, or -1 if none arrives for a while. */
        int poll(long patienceNanos) {
            WorkCompletion[] one = WorkCompletion.array(1);
            long giveUp = System.nanoTime() + patienceNanos;
            while (received.poll(one) == 0) {
                if (System.nanoTime() - giveUp > 0) {
                    return -1;
                }
            }
            assertThat(one[0].status()).isEqualTo(CompletionStatus.SUCCESS);
            assertThat(one[0].byteLength()).isEqualTo(GRH_BYTES + 4);
            return endpoint.memory.get(ValueLayout.JAVA_INT, one[0].id() * SLOT_BYTES + GRH_BYTES);
        }

        int next() {
            return poll(10_000_000_000L);
        }

        void assertQuiet() {
            assertThat(poll(QUIET_NANOS)).isEqualTo(-1);
        }
    }

    private Member member() {
        return new Member(QUEUE_KEY, 16);
    }

    private static QueuePair blocking(TestEndpoint endpoint, QueuePairType type) {
        return endpoint.domain.createQueuePair(
                QueuePairInitAttributes.of(type, endpoint.completions, TestEndpoint.CAPABILITIES)
                        .withBlockMulticastLoopback(true));
    }

    @BeforeEach
    void require() throws IOException {
        TestDevices.require(Capability.MULTICAST);
        if (TestDevices.driver() != Driver.SOFTWARE) { // a device of the kernel does not join the groups of the network
            membership = DatagramChannel.open(StandardProtocolFamily.INET);
            NetworkInterface local = NetworkInterface.getByName(TestDevices.networkInterface());
            membership.join(group.toInetAddress(), local);
            membership.join(otherGroup.toInetAddress(), local);
        }
    }

    @AfterEach
    void close() throws IOException {
        if (membership != null) {
            membership.close();
        }
        members.forEach(each -> each.endpoint.close());
    }

    @Test
    void senderReceivesItsOwnDatagramUnlessItBlocksLoopback() {
        Member open = member();
        open.queuePair.attachMulticast(group);
        open.send(group, 6);
        assertThat(open.next()).isEqualTo(6);
        if (TestDevices.driver() != Driver.SOFTWARE) {
            // The kernel's devices cannot block it.
            assertRefused(
                    Errno.EOPNOTSUPP,
                    "without multicast loopback",
                    () -> blocking(open.endpoint, QueuePairType.UNRELIABLE_DATAGRAM));
            return;
        }
        assertRefused(
                Errno.EINVAL,
                "without multicast loopback",
                () -> blocking(open.endpoint, QueuePairType.RELIABLE_CONNECTION));
        Member blocking = new Member(QUEUE_KEY, 16, true);
        blocking.queuePair.attachMulticast(group);
        blocking.send(group, 7);
        assertThat(open.next()).isEqualTo(7);
        blocking.assertQuiet();
        open.send(group, 8);
        assertThat(blocking.next()).isEqualTo(8);
        assertThat(open.next()).isEqualTo(8);
    }

    @Test
    void everyAttachedQueuePairReceivesEachDatagramOnce() {
        Member sender = member();
        List<Member> receivers = List.of(member(), member(), member());
        receivers.forEach(each -> each.queuePair.attachMulticast(group));
        sender.send(group, 7);
        sender.send(group, 8);
        for (Member receiver : receivers) {
            assertThat(receiver.next()).isEqualTo(7);
            assertThat(receiver.next()).isEqualTo(8);
            receiver.assertQuiet();
        }
        sender.assertQuiet();
    }

    @Test
    void receiverGetsTheGroupInTheHeaderAndTheSendersQueuePair() {
        Member sender = member();
        Member receiver = member();
        receiver.queuePair.attachMulticast(group);
        sender.send(group, 7);
        WorkCompletion[] one = WorkCompletion.array(1);
        long giveUp = System.nanoTime() + 10_000_000_000L;
        while (receiver.received.poll(one) == 0) {
            assertThat(System.nanoTime() - giveUp).as("nanoseconds too late").isNegative();
        }
        assertThat(one[0].sourceQueuePairNumber()).isEqualTo(sender.queuePair.number());
        assertThat(one[0].queuePairNumber()).isEqualTo(receiver.queuePair.number());
        var memory = receiver.endpoint.memory.asSlice(one[0].id() * SLOT_BYTES);
        assertThat(memory.get(ValueLayout.JAVA_BYTE, 20)).isEqualTo((byte) 0x45);
        assertThat(bytes(memory.asSlice(32, 4).toArray(ValueLayout.JAVA_BYTE)))
                .isEqualTo(bytes(sender.endpoint.address.getAddress()));
        assertThat(bytes(memory.asSlice(36, 4).toArray(ValueLayout.JAVA_BYTE)))
                .isEqualTo(bytes(group.toInetAddress().getAddress()));
    }

    private static List<Byte> bytes(byte[] array) {
        List<Byte> list = new ArrayList<>();
        for (byte each : array) {
            list.add(each);
        }
        return list;
    }

    @Test
    void attachedSenderReceivesItsOwnDatagrams() {
        Member both = member();
        both.queuePair.attachMulticast(group);
        both.send(group, 9);
        assertThat(both.next()).isEqualTo(9);
        both.assertQuiet();
    }

    @Test
    void attachingTwiceHasTheEffectOfOnce() {
        Member sender = member();
        Member receiver = member();
        receiver.queuePair.attachMulticast(group);
        receiver.queuePair.attachMulticast(group);
        sender.send(group, 1);
        assertThat(receiver.next()).isEqualTo(1);
        receiver.assertQuiet();
        receiver.queuePair.detachMulticast(group);
        sender.send(group, 2);
        receiver.assertQuiet();
    }

    @Test
    void detachedQueuePairsReceiveNothingAndOthersContinue() {
        Member sender = member();
        Member leaves = member();
        Member stays = member();
        leaves.queuePair.attachMulticast(group);
        stays.queuePair.attachMulticast(group);
        leaves.queuePair.detachMulticast(group);
        sender.send(group, 3);
        assertThat(stays.next()).isEqualTo(3);
        leaves.assertQuiet();
        assertRefused(Errno.EINVAL, "is not attached to", () -> leaves.queuePair.detachMulticast(group));
    }

    @Test
    void groupsAreSeparate() {
        Member sender = member();
        Member one = member();
        Member both = member();
        one.queuePair.attachMulticast(group);
        both.queuePair.attachMulticast(group);
        both.queuePair.attachMulticast(otherGroup);
        sender.send(otherGroup, 4);
        sender.send(group, 5);
        assertThat(one.next()).isEqualTo(5);
        assertThat(List.of(both.next(), both.next())).containsExactlyInAnyOrder(4, 5);
    }

    @Test
    void wrongQueueKeyDropsADatagramForThatQueuePairOnly() {
        Member sender = member();
        Member fits = member();
        Member differs = new Member(QUEUE_KEY + 1, 16);
        fits.queuePair.attachMulticast(group);
        differs.queuePair.attachMulticast(group);
        sender.send(group, 6);
        assertThat(fits.next()).isEqualTo(6);
        differs.assertQuiet();
        sender.send(group, 7, QUEUE_KEY + 1, GROUP_QUEUE_PAIR);
        assertThat(differs.next()).isEqualTo(7);
        fits.assertQuiet();
    }

    @Test
    void queuePairWithoutReceiveMissesADatagramThatOthersReceive() {
        Member sender = member();
        Member poor = new Member(QUEUE_KEY, 0);
        Member rich = member();
        poor.queuePair.attachMulticast(group);
        rich.queuePair.attachMulticast(group);
        sender.send(group, 1);
        assertThat(rich.next()).isEqualTo(1);
        poor.queuePair.postReceive(new ReceiveWorkRequest().reset(0).into(poor.endpoint.region, 0, SLOT_BYTES));
        sender.send(group, 2);
        assertThat(rich.next()).isEqualTo(2);
        assertThat(poor.next()).isEqualTo(2);
    }

    @Test
    @NotOn(value = Driver.RXE, because = "delivers what is sent to a group whatever queue pair it names")
    void datagramToAGroupMustNameTheMulticastQueuePair() {
        Member sender = member();
        Member receiver = member();
        receiver.queuePair.attachMulticast(group);
        sender.send(group, 1, QUEUE_KEY, receiver.queuePair.number());
        sender.send(group, 2);
        assertThat(receiver.next()).isEqualTo(2);
        receiver.assertQuiet();
    }

    @Test
    void closingAQueuePairDetachesIt() {
        Member sender = member();
        Member goes = member();
        Member stays = member();
        goes.queuePair.attachMulticast(group);
        stays.queuePair.attachMulticast(group);
        goes.queuePair.close();
        sender.send(group, 3);
        assertThat(stays.next()).isEqualTo(3);
        assertRefused(Errno.EINVAL, "is closed", () -> goes.queuePair.attachMulticast(group));
    }

    @Test
    @NotOn(value = Driver.RXE, because = "leaves it to the connection manager to make the host a member of a group")
    void hostIsAMemberWhileAQueuePairIsAttached() throws Exception {
        Member first = member();
        Member second = member();
        assertThat(KernelGroups.isMember(group.toInetAddress(), TestDevices.networkInterface()))
                .isFalse();
        first.queuePair.attachMulticast(group);
        second.queuePair.attachMulticast(group);
        assertThat(KernelGroups.isMember(group.toInetAddress(), TestDevices.networkInterface()))
                .isTrue();
        first.queuePair.detachMulticast(group);
        assertThat(KernelGroups.isMember(group.toInetAddress(), TestDevices.networkInterface()))
                .isTrue();
        second.endpoint.context.close();
        assertThat(KernelGroups.isMember(group.toInetAddress(), TestDevices.networkInterface()))
                .isFalse();
    }

    @Test
    void invalidAttachmentsAreRefusedWithAReason() {
        Member member = member();
        QueuePair datagrams = member.queuePair;
        Gid unicast = Gid.of(InetAddress.ofLiteral("10.0.0.1"));
        assertRefused(Errno.EINVAL, "10.0.0.1 is not a multicast address", () -> datagrams.attachMulticast(unicast));
        assertRefused(Errno.EINVAL, "is not a multicast address", () -> datagrams.attachMulticast(Gid.ZERO));
        QueuePair reliable = member.endpoint.queuePair;
        assertRefused(Errno.EINVAL, "RELIABLE_CONNECTION", () -> reliable.attachMulticast(group));
    }
}
