package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.device.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.cm.MulticastJoinFlag;
import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.KernelGroups;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Multicast through identifiers, and the kernel's groups. */
@Timeout(60)
class MulticastJoinTest {
    private static final InetAddress ADDRESS = TestDevices.address();

    private final InetAddress group = TestDevices.group();
    private final List<GroupMember> members = new ArrayList<>();

    private GroupMember member() {
        return member(TestDevices.freshAddress());
    }

    private GroupMember member(InetAddress local) {
        GroupMember member = new GroupMember(local);
        members.add(member);
        return member;
    }

    private static MulticastJoinAttributes sendOnly(InetAddress group) {
        return MulticastJoinAttributes.of(group).withFlag(MulticastJoinFlag.SEND_ONLY_FULL_MEMBER);
    }

    @BeforeEach
    void require() {
        TestDevices.require(Capability.MULTICAST);
    }

    @AfterEach
    void close() {
        members.forEach(GroupMember::close);
    }

    @Test
    void eventHasTheParametersForSendingToTheGroup() {
        DatagramParameters joined = member().join(group);
        assertThat(joined.queuePairNumber()).isEqualTo(0xff_ffff);
        assertThat(joined.queueKey()).isEqualTo(0x0123_4567);
        assertThat(joined.addressVector().destination()).isEqualTo(Gid.of(group));
        assertThat(joined.addressVector().hopLimit()).isEqualTo(64);
        assertThat(joined.privateData()).isEmpty();
    }

    @Test
    void oneSenderReachesTwoReceivers() {
        GroupMember sender = member();
        GroupMember first = member();
        GroupMember second = member();
        first.join(group);
        second.join(group);
        DatagramParameters destination = sender.join(sendOnly(group), "to send");
        sender.send(destination, 1);
        sender.send(destination, 2);
        for (GroupMember receiver : List.of(first, second)) {
            assertThat(receiver.receive()).isEqualTo(1);
            assertThat(receiver.receive()).isEqualTo(2);
            receiver.assertQuiet();
        }
        sender.assertQuiet();
    }

    @Test
    void senderThatIsFullMemberReceivesItsOwnDatagrams() {
        GroupMember member = member();
        member.send(member.join(group), 3);
        assertThat(member.receive()).isEqualTo(3);
        member.assertQuiet();
    }

    @Test
    void hostIsAMemberFromJoinToLeave() throws Exception {
        GroupMember one = member();
        GroupMember other = member();
        one.join(group);
        assertThat(KernelGroups.isMember(group, TestDevices.networkInterface())).isTrue();
        other.join(group);
        one.id.leaveMulticast(group);
        assertThat(KernelGroups.isMember(group, TestDevices.networkInterface())).isTrue();
        other.id.leaveMulticast(group);
        assertThat(KernelGroups.isMember(group, TestDevices.networkInterface())).isFalse();
    }

    @Test
    void sendOnlyJoinMakesTheHostNoMember() throws Exception {
        GroupMember sender = member();
        DatagramParameters destination = sender.join(sendOnly(group), "to send");
        assertThat(KernelGroups.isMember(group, TestDevices.networkInterface())).isFalse();
        sender.send(destination, 1);
        sender.assertQuiet();
        sender.id.leaveMulticast(group);
    }

    @Test
    void identifierThatHasLeftReceivesNothing() {
        GroupMember sender = member();
        GroupMember leaves = member();
        GroupMember stays = member();
        leaves.join(group);
        stays.join(group);
        DatagramParameters destination = sender.join(sendOnly(group), "to send");
        leaves.id.leaveMulticast(group);
        sender.send(destination, 1);
        assertThat(stays.receive()).isEqualTo(1);
        leaves.assertQuiet();
        assertRefused(
                Errno.EADDRNOTAVAIL,
                "has not joined the group " + group.getHostAddress(),
                () -> leaves.id.leaveMulticast(group));
    }

    @Test
    void closingTheIdentifierLeavesItsGroups() throws Exception {
        GroupMember member = new GroupMember(TestDevices.freshAddress());
        InetAddress otherGroup = TestDevices.group();
        member.join(group);
        member.join(otherGroup);
        assertThat(KernelGroups.isMember(otherGroup, TestDevices.networkInterface()))
                .isTrue();
        member.close();
        assertThat(KernelGroups.isMember(group, TestDevices.networkInterface())).isFalse();
        assertThat(KernelGroups.isMember(otherGroup, TestDevices.networkInterface()))
                .isFalse();
    }

    @Test
    void aGroupThatIsJoinedTwiceIsLeftTwice() {
        GroupMember sender = member();
        GroupMember member = member();
        member.join(MulticastJoinAttributes.of(group), "first");
        member.join(MulticastJoinAttributes.of(group), "second");
        DatagramParameters destination = sender.join(sendOnly(group), "to send");
        member.id.leaveMulticast(group);
        sender.send(destination, 1);
        assertThat(member.receive()).isEqualTo(1);
        member.assertQuiet();
        member.id.leaveMulticast(group);
        sender.send(destination, 2);
        member.assertQuiet();
        assertRefused(Errno.EADDRNOTAVAIL, "has not joined", () -> member.id.leaveMulticast(group));
    }

    @Test
    void unmappedGroupIsTheSameGroupWithAnotherName() {
        GroupMember sender = member();
        GroupMember member = member();
        member.join(MulticastJoinAttributes.unmapped(Gid.of(group)), "by GID");
        DatagramParameters destination = sender.join(sendOnly(group), "to send");
        sender.send(destination, 1);
        assertThat(member.receive()).isEqualTo(1);
        assertRefused(Errno.EADDRNOTAVAIL, "has not joined", () -> member.id.leaveMulticast(group));
        member.id.leaveMulticast(Gid.of(group));
    }

    @Test
    void theQueuePairIsAttachedWhenTheEventIsTaken() {
        GroupMember sender = member();
        GroupMember member = member();
        DatagramParameters destination = sender.join(sendOnly(group), "to send");
        member.id.joinMulticast(group);
        sender.send(destination, 1);
        member.assertQuiet();
        Session.expect(member.channel, CmEvent.Type.MULTICAST_JOIN);
        sender.send(destination, 2);
        assertThat(member.receive()).isEqualTo(2);
    }

    @Test
    void eventOfAGroupThatWasLeftMeanwhileIsNotDelivered() {
        GroupMember member = member();
        member.id.joinMulticast(group, "left");
        member.id.leaveMulticast(group);
        assertThat(member.channel.poll()).isNull();
        member.join(group);
    }

    @Test
    void leavingWaitsForTheAcknowledgementOfTheGroupsEvents() throws Exception {
        GroupMember member = member();
        member.id.joinMulticast(group);
        CmEvent event = Session.next(member.channel, CmEvent.Type.MULTICAST_JOIN);
        FutureTask<@Nullable Void> left = new FutureTask<>(() -> member.id.leaveMulticast(group), null);
        BlockedThread.await(Thread.ofPlatform().daemon().start(left));
        event.acknowledge();
        left.get(10, TimeUnit.SECONDS);
    }

    @Test
    void aSynchronousIdentifierWaitsForTheGroup() {
        try (CmId id = CmId.create(PortSpace.UDP)) {
            id.bindAddress(new InetSocketAddress(ADDRESS, 0));
            id.joinMulticast(group, "here");
            CmEvent.MulticastJoin event = (CmEvent.MulticastJoin) Objects.requireNonNull(id.event());
            assertThat(event.type()).isEqualTo(CmEvent.Type.MULTICAST_JOIN);
            assertThat(event.context()).isEqualTo("here");
            id.leaveMulticast(group);
        }
    }

    @Test
    @NotOn(value = Driver.RXE, because = "belongs to a kernel, which joins any address")
    void aSynchronousIdentifierDoesNotJoinAnAddressThatIsNoGroup() {
        try (CmId id = CmId.create(PortSpace.UDP)) {
            id.bindAddress(new InetSocketAddress(ADDRESS, 0));
            InetAddress unicast = InetAddress.ofLiteral("127.0.0.9");
            assertRefused(Errno.EINVAL, "127.0.0.9 is not a multicast address", () -> id.joinMulticast(unicast));
            id.leaveMulticast(unicast);
        }
    }

    @Test
    void joiningAnAddressThatIsNoGroupIsExplainedByAnErrorEvent() {
        GroupMember member = member();
        member.id.joinMulticast(InetAddress.ofLiteral("127.0.0.9"), "context");
        try (CmEvent event = Session.next(member.channel, CmEvent.Type.MULTICAST_ERROR)) {
            assertThat(event.status()).isEqualTo(-Errno.EINVAL.number());
            assertThat(event.explanation())
                    .contains(
                            TestDevices.driver() == Driver.SOFTWARE
                                    ? "127.0.0.9 is not a multicast address"
                                    : "127.0.0.9");
            assertThat(((CmEvent.MulticastError) event).context()).isEqualTo("context");
        }
    }

    @Test
    void wildcardsAndOtherAddressFamiliesAreRefused() {
        CmId id = member().id;
        InetAddress wildcard = InetAddress.ofLiteral("0.0.0.0");
        assertRefused(Errno.EINVAL, "does not specify a group", () -> id.joinMulticast(wildcard));
        // A kernel refuses each IPv6 group on RoCEv2.
        Errno ofFamily = TestDevices.driver() == Driver.SOFTWARE ? Errno.EINVAL : Errno.EOPNOTSUPP;
        assertRefused(ofFamily, "different address families", () -> id.joinMulticast(InetAddress.ofLiteral("ff15::1")));
    }

    @Test
    void onlyADatagramIdentifierWithADeviceJoins() {
        try (EventChannel channel = EventChannel.open();
                CmId idle = channel.createId(PortSpace.UDP);
                CmId wildcard = channel.createId(PortSpace.UDP);
                CmId connected = channel.createId(PortSpace.TCP)) {
            assertRefused(Errno.EINVAL, "idle", () -> idle.joinMulticast(group));
            wildcard.bindAddress(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0));
            assertRefused(Errno.EINVAL, "has no device", () -> wildcard.joinMulticast(group));
            connected.bindAddress(new InetSocketAddress(ADDRESS, 0));
            assertRefused(Errno.EINVAL, "not a datagram type", () -> connected.joinMulticast(group));
        }
    }

    @Test
    void anIdentifierWhoseAddressIsResolvedToTheGroupJoins() throws Exception {
        try (EventChannel channel = EventChannel.open();
                CmId id = channel.createId(PortSpace.UDP)) {
            id.resolveAddress(new InetSocketAddress(ADDRESS, 0), new InetSocketAddress(group, 0), Session.PATIENCE);
            Session.expect(channel, CmEvent.Type.ADDRESS_RESOLVED);
            assertThat(Objects.requireNonNull(id.localAddress()).getAddress()).isEqualTo(ADDRESS);
            id.createQueuePair(QueuePairInitAttributes.of(Session.SIZES));
            id.joinMulticast(group);
            Session.expect(channel, CmEvent.Type.MULTICAST_JOIN);
            assertThat(KernelGroups.isMember(group, TestDevices.networkInterface()))
                    .isTrue();
        }
    }

    @Test
    @NotOn(value = Driver.RXE, because = "belongs to a kernel, which refuses IPv6 groups on RoCEv2")
    void ipv6GroupsWorkWhereThereIsAnInterfaceForThem() throws Exception {
        InetAddress local = ipv6Address();
        assumeTrue(local != null, "needs a network interface with an IPv6 address");
        String network = NetworkInterface.getByInetAddress(local).getName();
        for (String text : List.of("ff15::7264:6d61", "ff12::7264:6d61")) {
            InetAddress ipv6Group = InetAddress.ofLiteral(text);
            GroupMember sender = member(local);
            GroupMember receiver = member(local);
            DatagramParameters destination = sender.join(sendOnly(ipv6Group), "to send");
            assertThat(KernelGroups.isMember(ipv6Group, network)).isFalse();
            receiver.join(ipv6Group);
            assertThat(KernelGroups.isMember(ipv6Group, network)).isTrue();
            sender.send(destination, 5);
            assertThat(receiver.receive()).isEqualTo(5);
            receiver.assertQuiet();
            receiver.id.leaveMulticast(ipv6Group);
            assertThat(KernelGroups.isMember(ipv6Group, network)).isFalse();
        }
    }

    private static @Nullable InetAddress ipv6Address() throws SocketException {
        return TestDevices.addresses()
                .filter(address -> address instanceof Inet6Address && !address.isLoopbackAddress())
                .findFirst()
                .orElse(null);
    }
}
