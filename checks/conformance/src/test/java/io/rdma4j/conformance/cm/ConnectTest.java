package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.PATIENCE;
import static io.rdma4j.conformance.cm.Session.SIZES;
import static io.rdma4j.conformance.cm.Session.connect;
import static io.rdma4j.conformance.cm.Session.disconnect;
import static io.rdma4j.conformance.cm.Session.expect;
import static io.rdma4j.conformance.cm.Session.listener;
import static io.rdma4j.conformance.cm.Session.next;
import static io.rdma4j.conformance.cm.Session.resolved;
import static io.rdma4j.conformance.cm.Session.transfer;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceAttributes;
import io.rdma4j.verbs.DeviceCapability;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Two ends of a connection in this process. */
@Timeout(60)
class ConnectTest {
    private static final InetAddress ADDRESS = TestDevices.address();

    private final EventChannel servers = EventChannel.open();
    private final EventChannel clients = EventChannel.open();
    private final List<AutoCloseable> opened = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : opened.reversed()) {
            each.close();
        }
        servers.close();
        clients.close();
    }

    private <T extends AutoCloseable> T track(T each) {
        opened.add(each);
        return each;
    }

    private static InetAddress address(String text) {
        return InetAddress.ofLiteral(text);
    }

    private CmId clientOf(CmId listener) {
        return track(resolved(
                clients,
                null,
                new InetSocketAddress(
                        Objects.requireNonNull(listener.localAddress()).getAddress(), listener.sourcePort())));
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.conformance.device.TestDevices#addresses")
    void dataFlowsBothWaysOverEveryAddress(InetAddress address) {
        CmId listener = track(listener(servers, address));
        CmId client = clientOf(listener);
        CmId server = track(connect(clients, client, servers));
        transfer(client, server, "there");
        transfer(server, client, "and back");
        disconnect(clients, client, servers, server);
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, whose private data has the length that was sent")
    void eventsCarryAddressesPortsContextAndPrivateData() {
        CmId listener = track(listener(servers, ADDRESS));
        CmId client = clientOf(listener);
        client.connect(ConnectionParameters.defaults()
                .withPrivateData("knock".getBytes(UTF_8))
                .withDepths(3, 2)
                .withRetries(5, 4)
                .withFlowControl(true));
        CmEvent request = expect(servers, CmEvent.Type.CONNECT_REQUEST);
        CmId server = track(request.id());
        assertThat(((CmEvent.ConnectRequest) request).listener()).isSameAs(listener);
        assertThat(server.context()).isEqualTo("listener");
        assertThat(server.channel()).isSameAs(servers);
        assertThat(request.privateData()).hasSize(56).startsWith("knock".getBytes(UTF_8));
        assertThat(request.privateData()[55]).isZero();
        assertThat(request.connection().responderResources()).isEqualTo(2);
        assertThat(request.connection().initiatorDepth()).isEqualTo(3);
        assertThat(request.connection().retryCount()).isEqualTo(5);
        assertThat(request.connection().rnrRetryCount()).isEqualTo(4);
        assertThat(request.connection().flowControl()).isTrue();
        assertThat(request.connection().queuePairNumber())
                .isEqualTo(Objects.requireNonNull(client.queuePair()).number());
        assertThat(server.sourcePort()).isEqualTo(listener.sourcePort());
        assertThat(server.destinationPort()).isEqualTo(client.sourcePort());
        assertThat(server.peerAddress()).isEqualTo(client.localAddress());
        assertThat(client.peerAddress()).isEqualTo(server.localAddress());

        server.createQueuePair(QueuePairInitAttributes.of(SIZES));
        server.accept(ConnectionParameters.defaults()
                .withPrivateData("come in".getBytes(UTF_8))
                .withRetries(0, 6));
        CmEvent established = expect(clients, CmEvent.Type.ESTABLISHED);
        assertThat(established.privateData()).hasSize(196).startsWith("come in".getBytes(UTF_8));
        assertThat(established.connection().responderResources()).isEqualTo(3);
        assertThat(established.connection().initiatorDepth()).isEqualTo(2);
        assertThat(expect(servers, CmEvent.Type.ESTABLISHED).privateData()).isEmpty();
    }

    @Test
    @NotOn(
            value = Driver.SIW,
            because =
                    "has iWARP, whose connections have no packet sequence numbers, retries or depths that a queue pair"
                            + " shows")
    void bothQueuePairsGetTheAttributesOfTheMessages() {
        CmId listener = track(listener(servers, ADDRESS));
        CmId client = clientOf(listener);
        client.connect(ConnectionParameters.defaults().withDepths(4, 2).withRetries(5, 4));
        CmId server = track(expect(servers, CmEvent.Type.CONNECT_REQUEST).id());
        server.createQueuePair(QueuePairInitAttributes.of(SIZES));
        server.accept(ConnectionParameters.defaults().withRetries(0, 6));
        expect(clients, CmEvent.Type.ESTABLISHED);
        expect(servers, CmEvent.Type.ESTABLISHED);

        QueuePairAttributes active = Objects.requireNonNull(client.queuePair()).query();
        QueuePairAttributes passive = Objects.requireNonNull(server.queuePair()).query();
        assertThat(active.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(passive.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(active.sendPsn()).isEqualTo(passive.receivePsn());
        assertThat(passive.sendPsn()).isEqualTo(active.receivePsn());
        assertThat(active.maxReadAtomic()).isEqualTo(2);
        assertThat(active.maxDestinationReadAtomic()).isEqualTo(4);
        assertThat(passive.maxReadAtomic()).isEqualTo(4);
        assertThat(passive.maxDestinationReadAtomic()).isEqualTo(2);
        assertThat(active.retryCount()).isEqualTo(5);
        assertThat(passive.retryCount()).isEqualTo(5);
        assertThat(active.rnrRetry()).isEqualTo(6);
        assertThat(passive.rnrRetry()).isEqualTo(4);
        if (TestDevices.driver() == Driver.SOFTWARE) {
            assertThat(active.timeout()).isEqualTo(19);
        } else {
            assertThat(active.timeout()).isIn(19, 17); // of Linux 6.1 and 6.12
        }
        assertPassiveTimeout(active.timeout(), passive);
        assertThat(active.minRnrTimer()).isZero();
        PathMtu largest = client.verbs().port(1).activeMtu();
        assertThat(active.pathMtu()).isEqualTo(largest);
        assertThat(passive.pathMtu()).isEqualTo(largest);
        Set<AccessFlag> rights = EnumSet.of(AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ, AccessFlag.REMOTE_ATOMIC);
        DeviceAttributes device = client.verbs().attributes();
        if (device.capabilities().contains(DeviceCapability.FLUSH_GLOBAL)
                || device.capabilities().contains(DeviceCapability.FLUSH_PERSISTENT)) {
            rights.add(AccessFlag.FLUSH_GLOBAL);
            rights.add(AccessFlag.FLUSH_PERSISTENT);
        }
        assertThat(active.accessFlags()).containsExactlyInAnyOrderElementsOf(rights);
        int flowLabel = client.sourcePort() * 31 + listener.sourcePort() & 0xf_ffff;
        assertThat(Objects.requireNonNull(active.addressVector()).flowLabel()).isEqualTo(flowLabel);
        assertThat(Objects.requireNonNull(passive.addressVector()).flowLabel()).isEqualTo(flowLabel);
        assertThat(Objects.requireNonNull(active.addressVector()).hopLimit()).isEqualTo(64);
    }

    @Test
    @NotOn(
            value = Driver.SIW,
            because =
                    "has iWARP, whose connections have no packet sequence numbers, retries or depths that a queue pair"
                            + " shows")
    void depthsOfZeroForbidReads() {
        CmId listener = track(listener(servers, ADDRESS));
        CmId client = clientOf(listener);
        client.connect(ConnectionParameters.defaults().withDepths(0, 0));
        CmId server = track(expect(servers, CmEvent.Type.CONNECT_REQUEST).id());
        server.createQueuePair(QueuePairInitAttributes.of(SIZES));
        server.accept();
        expect(clients, CmEvent.Type.ESTABLISHED);
        expect(servers, CmEvent.Type.ESTABLISHED);
        QueuePairAttributes passive = Objects.requireNonNull(server.queuePair()).query();
        assertThat(passive.accessFlags()).containsExactly(AccessFlag.REMOTE_WRITE);
        assertThat(passive.maxReadAtomic()).isZero();
    }

    @Test
    @NotOn(
            value = Driver.SIW,
            because =
                    "has iWARP, whose connections have no packet sequence numbers, retries or depths that a queue pair"
                            + " shows")
    void optionsReachTheQueuePairs() {
        CmId listener = track(listener(servers, ADDRESS));
        CmId client = track(clients.createId(PortSpace.TCP));
        client.setTypeOfService(0x28);
        client.setAckTimeout(14);
        client.resolveAddress(new InetSocketAddress(ADDRESS, listener.sourcePort()), PATIENCE);
        expect(clients, CmEvent.Type.ADDRESS_RESOLVED);
        client.resolveRoute(PATIENCE);
        expect(clients, CmEvent.Type.ROUTE_RESOLVED);
        client.createQueuePair(QueuePairInitAttributes.of(SIZES));
        CmId server = track(connect(clients, client, servers));
        QueuePairAttributes active = Objects.requireNonNull(client.queuePair()).query();
        QueuePairAttributes passive = Objects.requireNonNull(server.queuePair()).query();
        assertThat(active.timeout()).isEqualTo(14);
        assertPassiveTimeout(14, passive);
        assertThat(Objects.requireNonNull(active.addressVector()).trafficClass())
                .isEqualTo(0x28);
        assertThat(Objects.requireNonNull(passive.addressVector()).trafficClass())
                .isEqualTo(0x28);
    }

    /** The passive side has the timeout of the request, to which a kernel adds the time of its own replies. */
    private static void assertPassiveTimeout(int requested, QueuePairAttributes passive) {
        if (TestDevices.driver() == Driver.SOFTWARE) {
            assertThat(passive.timeout()).isEqualTo(requested);
        } else {
            assertThat(passive.timeout()).isBetween(requested, requested + 2);
        }
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which reports a rejection as an errno")
    void rejectionCarriesReasonAndPrivateDataAndStopsTheQueuePair() {
        CmId listener = track(listener(servers, ADDRESS));
        CmId client = clientOf(listener);
        client.connect();
        CmId server = track(expect(servers, CmEvent.Type.CONNECT_REQUEST).id());
        server.reject("NOPE".getBytes(UTF_8));
        CmEvent rejected = next(clients, CmEvent.Type.REJECTED);
        rejected.acknowledge();
        assertThat(rejected.status()).isEqualTo(28);
        assertThat(rejected.privateData()).hasSize(148).startsWith("NOPE".getBytes(UTF_8));
        assertThat(Objects.requireNonNull(client.queuePair()).state()).isEqualTo(QueuePairState.ERROR);
        String from = Objects.requireNonNull(client.localAddress()).getAddress().getHostAddress();
        String to = ADDRESS.getHostAddress();
        if (TestDevices.driver() != Driver.SOFTWARE) {
            assertThat(rejected.explanation())
                    .startsWith("connection from " + from + ":" + client.sourcePort() + " to " + to)
                    .contains("device " + TestDevices.name(), "was rejected: consumer defined (28)");
            return;
        }
        assertThat(rejected.explanation())
                .isEqualTo("connection from " + from + ":" + client.sourcePort() + " to " + to + ":"
                        + listener.sourcePort()
                        + " (device " + TestDevices.name() + ", GID " + from + " at index " + gidIndex(client)
                        + ") was rejected: consumer defined (28): the peer's application rejected the"
                        + " connection, or its listener does not accept this address. Its private data may contain the"
                        + " reason");
    }

    private static int gidIndex(CmId id) {
        return id.verbs()
                .gids(1)
                .indexOf(Gid.of(Objects.requireNonNull(id.localAddress()).getAddress()));
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which refuses a request without a listener in the call itself")
    void requestWithoutListenerIsRejectedWithReasonEight() {
        CmId listener = listener(servers, ADDRESS);
        int port = listener.sourcePort();
        listener.close();
        CmId client = track(resolved(clients, null, new InetSocketAddress(ADDRESS, port)));
        long start = System.nanoTime();
        client.connect();
        CmEvent rejected = next(clients, CmEvent.Type.REJECTED);
        rejected.acknowledge();
        assertThat(System.nanoTime() - start).isLessThan(1_000_000_000L);
        assertThat(rejected.status()).isEqualTo(8);
        assertThat(rejected.explanation())
                .endsWith(" was rejected: invalid service ID (8): nobody listens on port " + port + " of "
                        + ADDRESS.getHostAddress() + ". Start the server, or check its address and port");
    }

    @Test
    void loopbackAddressOfNoProcessRejectsAtOnce() {
        TestDevices.requireLoopback();
        CmId client = track(resolved(clients, null, new InetSocketAddress(TestDevices.freshAddress(), 7471)));
        long start = System.nanoTime();
        client.connect();
        CmEvent rejected = next(clients, CmEvent.Type.REJECTED);
        rejected.acknowledge();
        assertThat(System.nanoTime() - start).isLessThan(1_000_000_000L);
        assertThat(rejected.status()).isEqualTo(8);
    }

    @Test
    void wildcardListenerAcceptsRequestsOfItsProcessToAnyLoopbackAddress() {
        TestDevices.requireLoopback();
        CmId listener = track(listener(servers, InetAddress.ofLiteral("0.0.0.0")));
        InetAddress address = TestDevices.freshAddress();
        CmId client = track(resolved(clients, null, new InetSocketAddress(address, listener.sourcePort())));
        CmId server = track(connect(clients, client, servers));
        assertThat(server.localAddress()).isEqualTo(new InetSocketAddress(address, listener.sourcePort()));
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which reports a rejection as an errno")
    void destroyingAnUnansweredRequestRejectsIt() {
        CmId listener = track(listener(servers, ADDRESS));
        CmId client = clientOf(listener);
        client.connect();
        expect(servers, CmEvent.Type.CONNECT_REQUEST).id().close();
        CmEvent rejected = next(clients, CmEvent.Type.REJECTED);
        rejected.acknowledge();
        assertThat(rejected.status()).isEqualTo(28);
    }

    @Test
    void closingAListenerRejectsItsPendingRequests() {
        CmId listener = listener(servers, ADDRESS);
        CmId client = clientOf(listener);
        client.connect();
        long end = System.nanoTime() + PATIENCE.toNanos();
        CmEvent rejected = null;
        while (rejected == null && System.nanoTime() < end) {
            rejected = clients.await(java.time.Duration.ofMillis(50));
            if (rejected == null) {
                listener.close();
            }
        }
        assertThat(Objects.requireNonNull(rejected).type()).isEqualTo(CmEvent.Type.REJECTED);
        rejected.acknowledge();
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which has no TIMEWAIT_EXIT")
    void destroyingAnEstablishedConnectionDisconnectsThePeer() {
        CmId listener = track(listener(servers, ADDRESS));
        CmId client = clientOf(listener);
        CmId server = track(connect(clients, client, servers));
        client.close();
        expect(servers, CmEvent.Type.DISCONNECTED);
        server.disconnect();
        expect(servers, CmEvent.Type.TIMEWAIT_EXIT);
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which has no TIMEWAIT_EXIT")
    void bothSidesGetOneDisconnectedAndOneTimewaitExit() {
        CmId listener = track(listener(servers, ADDRESS));
        CmId client = track(clients.createId(PortSpace.TCP));
        client.setAckTimeout(8); // time-wait of a millisecond
        client.resolveAddress(new InetSocketAddress(ADDRESS, listener.sourcePort()), PATIENCE);
        expect(clients, CmEvent.Type.ADDRESS_RESOLVED);
        client.resolveRoute(PATIENCE);
        expect(clients, CmEvent.Type.ROUTE_RESOLVED);
        client.createQueuePair(QueuePairInitAttributes.of(SIZES));
        CmId server = track(connect(clients, client, servers));
        client.disconnect();
        server.disconnect();
        expect(clients, CmEvent.Type.DISCONNECTED);
        expect(servers, CmEvent.Type.DISCONNECTED);
        assertThat(Objects.requireNonNull(client.queuePair()).state()).isEqualTo(QueuePairState.ERROR);
        // The kernel replies to a request that crossed its own one only when the program does so.
        client.disconnect();
        server.disconnect();
        expect(clients, CmEvent.Type.TIMEWAIT_EXIT);
        expect(servers, CmEvent.Type.TIMEWAIT_EXIT);
        client.disconnect(); // has no effect after the end, as in Linux
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which establishes a connection without a CONNECT_RESPONSE")
    void applicationsOwnQueuePairsConnectByResponseAndEstablish() {
        CmId listener = track(listener(servers, ADDRESS));
        CmId client = track(clients.createId(PortSpace.TCP));
        client.resolveAddress(new InetSocketAddress(ADDRESS, listener.sourcePort()), PATIENCE);
        expect(clients, CmEvent.Type.ADDRESS_RESOLVED);
        client.resolveRoute(PATIENCE);
        expect(clients, CmEvent.Type.ROUTE_RESOLVED);
        QueuePair active = ownQueuePair(client);
        active.modify(client.initQueuePairAttributes(QueuePairState.INIT));
        if (TestDevices.driver() == Driver.SOFTWARE) { // a kernel returns what it knows so far
            assertThatThrownBy(() -> client.initQueuePairAttributes(QueuePairState.READY_TO_RECEIVE))
                    .isInstanceOf(RdmaException.class)
                    .hasMessageContaining("the peer's message has not arrived");
        }
        client.connect(ConnectionParameters.defaults().withDepths(1, 1).withQueuePairNumber(active.number()));

        CmId server = track(expect(servers, CmEvent.Type.CONNECT_REQUEST).id());
        QueuePair passive = ownQueuePair(server);
        toReady(server, passive);
        server.accept(ConnectionParameters.defaults().withDepths(1, 1).withQueuePairNumber(passive.number()));
        expect(clients, CmEvent.Type.CONNECT_RESPONSE);
        toReady(client, active);
        client.establish();
        expect(servers, CmEvent.Type.ESTABLISHED);
        assertThat(active.query().destinationQueuePair()).isEqualTo(passive.number());
        assertThat(passive.query().destinationQueuePair()).isEqualTo(active.number());
    }

    private QueuePair ownQueuePair(CmId id) {
        ProtectionDomain domain = track(id.verbs().createProtectionDomain());
        CompletionQueue queue = track(id.verbs().createCompletionQueue(32));
        return track(domain.createQueuePair(QueuePairInitAttributes.reliable(queue, SIZES)));
    }

    private static void toReady(CmId id, QueuePair queuePair) {
        queuePair.modify(id.initQueuePairAttributes(QueuePairState.INIT));
        queuePair.modify(id.initQueuePairAttributes(QueuePairState.READY_TO_RECEIVE));
        queuePair.modify(id.initQueuePairAttributes(QueuePairState.READY_TO_SEND));
    }

    @Test
    void establishIsRefusedIfTheIdentifierHasAQueuePair() {
        CmId listener = track(listener(servers, ADDRESS));
        CmId client = clientOf(listener);
        assertThatThrownBy(client::establish)
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("connects it by itself");
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, whose passive side needs no notification")
    void notifyEstablishesThePassiveSideOnce() {
        CmId listener = track(listener(servers, ADDRESS));
        CmId client = clientOf(listener);
        client.connect();
        CmId server = track(expect(servers, CmEvent.Type.CONNECT_REQUEST).id());
        server.createQueuePair(QueuePairInitAttributes.of(SIZES));
        server.accept();
        server.notifyCommunicationEstablished(); // the client has not taken its event, so no RTU was sent yet
        expect(servers, CmEvent.Type.ESTABLISHED);
        RdmaException again = catchThrowableOfType(RdmaException.class, server::notifyCommunicationEstablished);
        assertThat(again.errno()).isEqualTo(Errno.EISCONN);
        expect(clients, CmEvent.Type.ESTABLISHED);
        assertThat(servers.poll()).isNull();
    }

    @Test
    void wildcardListenerAcceptsRequestsAtAllItsAddresses() throws SocketException {
        CmId four = track(listener(servers, address("0.0.0.0")));
        CmId six = track(listener(servers, address("::")));
        TestDevices.addresses().forEach(address -> {
            CmId ofFamily = address instanceof Inet6Address ? six : four;
            connectOnce(new InetSocketAddress(address, ofFamily.sourcePort()), address);
        });
    }

    @Test
    @NotOn(value = Driver.SIW, because = "rejects IPv4 requests to a listener at the IPv6 wildcard")
    void ipv6WildcardListenerAcceptsIpv4Requests() throws SocketException {
        CmId six = track(listener(servers, address("::")));
        TestDevices.addresses()
                .filter(Inet4Address.class::isInstance)
                .forEach(address -> connectOnce(new InetSocketAddress(address, six.sourcePort()), address));
    }

    private void connectOnce(InetSocketAddress destination, InetAddress local) {
        CmId client = resolved(clients, null, destination);
        CmId server = connect(clients, client, servers);
        assertThat(Objects.requireNonNull(server.localAddress()).getAddress()).isEqualTo(local);
        disconnect(clients, client, servers, server);
        client.close();
        server.close();
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has iWARP, which refuses a request without a listener in the call itself")
    void ipv6OnlyWildcardLeavesIpv4Alone() {
        CmId listener = track(servers.createId(PortSpace.TCP));
        listener.setIpv6Only(true);
        listener.bindAddress(new InetSocketAddress(address("::"), 0));
        listener.listen(1);
        CmId client = track(resolved(clients, null, new InetSocketAddress(ADDRESS, listener.sourcePort())));
        client.connect();
        CmEvent rejected = next(clients, CmEvent.Type.REJECTED);
        rejected.acknowledge();
        assertThat(rejected.status()).isIn(8, 28);
    }

    @Test
    void wildcardDestinationIsTheLoopbackAddress() {
        TestDevices.requireLoopback();
        CmId listener = track(listener(servers, ADDRESS));
        CmId client = track(resolved(clients, null, new InetSocketAddress(address("0.0.0.0"), listener.sourcePort())));
        assertThat(Objects.requireNonNull(client.peerAddress()).getAddress()).isEqualTo(ADDRESS);
        CmId server = track(connect(clients, client, servers));
        transfer(client, server, "over loopback");
    }

    @Test
    void listenWithoutBindUsesAnyAddressAndAFreePort() {
        CmId listener = track(servers.createId(PortSpace.TCP));
        listener.listen(1);
        assertThat(listener.sourcePort()).isPositive();
        connectOnce(new InetSocketAddress(ADDRESS, listener.sourcePort()), ADDRESS);
    }

    @Test
    void sourceAddressAndPortAreUsedAsGiven() {
        CmId listener = track(listener(servers, ADDRESS));
        CmId free = listener(servers, ADDRESS);
        int port = free.sourcePort();
        free.close();
        InetAddress source = TestDevices.freshAddress();
        CmId client = track(resolved(
                clients, new InetSocketAddress(source, port), new InetSocketAddress(ADDRESS, listener.sourcePort())));
        assertThat(client.localAddress()).isEqualTo(new InetSocketAddress(source, port));
        CmId server = track(connect(clients, client, servers));
        assertThat(server.peerAddress()).isEqualTo(client.localAddress());
    }

    @Test
    void addressesOfTwoFamiliesAreRefused() {
        CmId client = track(clients.createId(PortSpace.TCP));
        RdmaException refused = catchThrowableOfType(
                RdmaException.class,
                () -> client.resolveAddress(
                        new InetSocketAddress(address("::1"), 0), new InetSocketAddress(ADDRESS, 1), PATIENCE));
        assertThat(refused.errno()).isEqualTo(Errno.EINVAL);
        assertThat(refused)
                .hasMessage("rdma_resolve_addr: Invalid argument (EINVAL): the local address ::1 and the destination"
                        + " " + ADDRESS.getHostAddress()
                        + " are of different address families. Use two IPv4 or two IPv6 addresses");
    }

    @Test
    void bindingToAForeignAddressIsRefusedWithItsName() {
        CmId id = track(clients.createId(PortSpace.TCP));
        RdmaException refused = catchThrowableOfType(
                RdmaException.class, () -> id.bindAddress(new InetSocketAddress(address("198.51.100.7"), 0)));
        assertThat(refused.errno()).isEqualTo(Errno.EADDRNOTAVAIL);
        assertThat(refused)
                .hasMessage(
                        "rdma_bind_addr: Cannot assign requested address (EADDRNOTAVAIL): no network interface that is"
                                + " up has the address 198.51.100.7. Use an address of this host whose network interface"
                                + " is up; `ip address` lists them");
    }

    @Test
    @NotOn(value = Driver.SIW, because = "has about 140 queues for each open device")
    void hundredConnectionsExistAtOnce() {
        CmId listener = track(listener(servers, ADDRESS));
        List<CmId> active = new ArrayList<>();
        List<CmId> passive = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            CmId client = clientOf(listener);
            active.add(client);
            passive.add(track(connect(clients, client, servers)));
        }
        for (int i = 0; i < 100; i++) {
            transfer(active.get(i), passive.get(i), "number " + i);
        }
        for (int i = 0; i < 100; i++) {
            active.get(i).disconnect();
            expectDisconnected(servers, passive.get(i));
            passive.get(i).disconnect();
            expectDisconnected(clients, active.get(i));
        }
    }

    /** Takes the event of a disconnection, after those of connections that were disconnected before. */
    private static void expectDisconnected(EventChannel channel, CmId id) {
        CmEvent event;
        do {
            event = Objects.requireNonNull(channel.await(PATIENCE), "no event DISCONNECTED");
            assertThat(event.status()).as(event.toString()).isZero();
            event.acknowledge();
        } while (event.type() == CmEvent.Type.TIMEWAIT_EXIT && event.id() != id);
        assertThat(event.type()).as(event.toString()).isEqualTo(CmEvent.Type.DISCONNECTED);
        assertThat(event.id()).isSameAs(id);
    }
}
