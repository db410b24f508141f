package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.PATIENCE;
import static io.rdma4j.conformance.cm.Session.SIZES;
import static io.rdma4j.conformance.cm.Session.expect;
import static io.rdma4j.conformance.cm.Session.next;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.AddressInformation;
import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionManager;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.cm.RoutePath;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Calls other than connecting: the application's events, background look-ups, chosen paths. */
class MoreCallsTest {
    private final EventChannel channel = EventChannel.open();

    @AfterEach
    void close() {
        channel.close();
    }

    @Test
    void eventOfTheApplicationArrivesWithItsNumbers() {
        try (CmId id = channel.createId(PortSpace.TCP)) {
            id.writeEvent(CmEvent.Type.USER, -7, 0x1234_5678_9abcL);
            CmEvent event = next(channel, CmEvent.Type.USER);
            assertThat(event.status()).isEqualTo(-7);
            assertThat(((CmEvent.User) event).argument()).isEqualTo(0x1234_5678_9abcL);
            assertThat(event.id()).isEqualTo(id);
            assertThat(event.type().text()).isEqualTo("UNKNOWN EVENT");
            event.acknowledge();
            assertThatThrownBy(() -> id.writeEvent(CmEvent.Type.ESTABLISHED, 0, 0))
                    .isInstanceOfSatisfying(
                            RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        }
    }

    @Test
    void addressesAreLookedUpInTheBackgroundAndReturnedOnce() {
        try (CmId id = channel.createId(PortSpace.TCP)) {
            assertThatThrownBy(id::queryAddressInformation)
                    .isInstanceOfSatisfying(
                            RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.ENOENT));
            id.resolveAddressInformation("127.0.0.1", "7471");
            expect(channel, CmEvent.Type.ADDRESS_INFORMATION_RESOLVED);
            assertThatThrownBy(() -> id.resolveAddressInformation("127.0.0.1", "1"))
                    .isInstanceOfSatisfying(
                            RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EBUSY));
            AddressInformation found = id.queryAddressInformation();
            assertThat(found.destination()).isEqualTo(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 7471));
            assertThatThrownBy(id::queryAddressInformation).isInstanceOf(RdmaException.class);
            id.resolveAddressInformation("127.0.0.1", "none");
            CmEvent failed = next(channel, CmEvent.Type.ADDRESS_INFORMATION_ERROR);
            assertThat(failed.status()).isNegative();
            assertThat(failed.explanation()).contains("none");
            failed.acknowledge();
            id.resolveAddressInformation("127.0.0.1", "2");
            expect(channel, CmEvent.Type.ADDRESS_INFORMATION_RESOLVED);
        }
    }

    @Test
    void synchronousLookUpReturnsWithTheResult() {
        try (CmId id = CmId.create(PortSpace.UDP)) {
            id.resolveAddressInformation(
                    "::1", "7", AddressInformation.Hints.of(PortSpace.UDP, AddressInformation.Flag.PASSIVE));
            AddressInformation found = id.queryAddressInformation();
            assertThat(found.isPassive()).isTrue();
            assertThat(found.queuePairType()).isEqualTo(QueuePairType.UNRELIABLE_DATAGRAM);
            assertThat(id.queuePairType()).isEqualTo(QueuePairType.UNRELIABLE_DATAGRAM);
            assertThatThrownBy(() -> id.resolveAddressInformation("::1", "x")).isInstanceOf(RdmaException.class);
        }
    }

    @Test
    void portIsSharedAfterItsHolderAllowsIt() {
        InetSocketAddress local = new InetSocketAddress(TestDevices.freshAddress(), 7199);
        try (CmId holder = CmId.create(PortSpace.TCP);
                CmId other = CmId.create(PortSpace.TCP)) {
            holder.bindAddress(local);
            other.setReuseAddress(true);
            assertThatThrownBy(() -> other.bindAddress(local))
                    .isInstanceOfSatisfying(
                            RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
            holder.setReuseAddress(true);
            other.bindAddress(local);
            assertThat(other.localAddress()).isEqualTo(local);
        }
    }

    @Test
    void listenersPortIsNotSharedWhateverItAllowsLater() {
        InetSocketAddress local = new InetSocketAddress(TestDevices.freshAddress(), 7199);
        try (CmId listener = CmId.create(PortSpace.TCP);
                CmId other = CmId.create(PortSpace.TCP)) {
            listener.bindAddress(local);
            listener.listen(1);
            assertThatThrownBy(() -> listener.setReuseAddress(true))
                    .isInstanceOfSatisfying(
                            RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
            other.setReuseAddress(true);
            assertThatThrownBy(() -> other.bindAddress(local))
                    .isInstanceOfSatisfying(
                            RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EADDRINUSE));
        }
    }

    @Test
    void onlyReliableConnectionsHaveAnAcknowledgementTimeout() {
        try (CmId reliable = CmId.create(PortSpace.TCP);
                CmId datagrams = CmId.create(PortSpace.UDP)) {
            reliable.setAckTimeout(14);
            assertThatThrownBy(() -> datagrams.setAckTimeout(14))
                    .isInstanceOfSatisfying(
                            RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
        }
    }

    @Test
    void subnetAdministratorIsNotUsed() {
        assertThatThrownBy(() -> AddressInformation.lookUp(
                        "127.0.0.1",
                        "1",
                        AddressInformation.Hints.of(PortSpace.TCP, AddressInformation.Flag.SUBNET_ADMINISTRATOR)))
                .isInstanceOfSatisfying(
                        RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EOPNOTSUPP));
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has no path MTU that a route could give")
    void aChosenPathReplacesTheRoute() {
        InetAddress address = TestDevices.freshAddress();
        try (EventChannel servers = EventChannel.open();
                CmId listener = Session.listener(servers, address);
                CmId client = channel.createId(PortSpace.TCP)) {
            client.resolveAddress(new InetSocketAddress(address, listener.sourcePort()), PATIENCE);
            expect(channel, CmEvent.Type.ADDRESS_RESOLVED);
            client.setPath(new RoutePath(PathMtu.MTU_512, 8, 77, 3, 13));
            expect(channel, CmEvent.Type.ROUTE_RESOLVED);
            client.createQueuePair(QueuePairInitAttributes.of(SIZES));
            try (CmId server = Session.connect(channel, client, servers)) {
                assertThat(Objects.requireNonNull(server.queuePair()).query().pathMtu())
                        .isEqualTo(PathMtu.MTU_512);
                assertThat(client.initQueuePairAttributes(QueuePairState.READY_TO_RECEIVE)
                                .pathMtu())
                        .isEqualTo(PathMtu.MTU_512);
                Session.transfer(client, server, "by another path");
                Session.disconnect(channel, client, servers, server);
            }
        }
    }

    @Test
    void devicesOfIdentifiersAreThoseOfTheList() {
        try (CmId id = channel.createId(PortSpace.TCP)) {
            id.bindAddress(new InetSocketAddress(TestDevices.freshAddress(), 0));
            assertThat(ConnectionManager.ofProcess().devices()).contains(id.verbs());
        }
    }
}
