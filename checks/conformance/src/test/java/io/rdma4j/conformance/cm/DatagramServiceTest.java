package io.rdma4j.conformance.cm;

import static io.rdma4j.conformance.cm.Session.PATIENCE;
import static io.rdma4j.conformance.cm.Session.SIZES;
import static io.rdma4j.conformance.cm.Session.expect;
import static io.rdma4j.conformance.cm.Session.next;
import static io.rdma4j.conformance.device.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.CmId;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.PortSpace;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SendWorkRequest;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Datagram services: resolution, acceptance and what follows. */
class DatagramServiceTest {
    private static final int REQUEST_BYTES = 180;
    private static final int REPLY_BYTES = 136;

    private final EventChannel servers = EventChannel.open();
    private final EventChannel clients = EventChannel.open();
    private final List<CmId> open = new ArrayList<>();

    @BeforeEach
    void require() {
        TestDevices.require(Capability.DATAGRAMS);
    }

    @AfterEach
    void close() {
        open.reversed().forEach(CmId::close);
        servers.close();
        clients.close();
    }

    private CmId track(CmId id) {
        open.add(id);
        return id;
    }

    private CmId listener(PortSpace space, InetAddress address) {
        CmId listener = track(servers.createId(space, "listener"));
        listener.bindAddress(new InetSocketAddress(address, 0));
        listener.listen(0);
        return listener;
    }

    private CmId client(PortSpace space, InetAddress address, int port) {
        CmId client = track(clients.createId(space, "client"));
        client.resolveAddress(new InetSocketAddress(address, port), PATIENCE);
        expect(clients, CmEvent.Type.ADDRESS_RESOLVED);
        client.resolveRoute(PATIENCE);
        expect(clients, CmEvent.Type.ROUTE_RESOLVED);
        return client;
    }

    private static ConnectionParameters saying(String text) {
        return ConnectionParameters.NONE.withPrivateData(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String text(byte[] privateData) {
        return new String(privateData, StandardCharsets.UTF_8).trim();
    }

    private CmId request() {
        CmEvent request = next(servers, CmEvent.Type.CONNECT_REQUEST);
        CmId server = track(request.id());
        request.acknowledge();
        return server;
    }

    @ParameterizedTest
    @EnumSource(
            value = PortSpace.class,
            names = {"UDP", "IPOIB"})
    void acceptedServiceIsReachedByDatagrams(PortSpace space) {
        if (space == PortSpace.IPOIB) {
            TestDevices.require(Capability.IPOIB);
        }
        InetAddress address = TestDevices.freshAddress();
        CmId listener = listener(space, address);
        CmId client = client(space, address, listener.sourcePort());
        QueuePair from = client.createQueuePair(QueuePairInitAttributes.of(SIZES));
        assertThat(from.type()).isEqualTo(QueuePairType.UNRELIABLE_DATAGRAM);
        assertThat(from.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        client.connect(saying("who serves?"));
        CmEvent request = next(servers, CmEvent.Type.CONNECT_REQUEST);
        assertThat(request.privateData()).hasSize(REQUEST_BYTES);
        assertThat(text(request.privateData())).isEqualTo("who serves?");
        CmId server = track(request.id());
        assertThat(((CmEvent.ConnectRequest) request).listener()).isEqualTo(listener);
        request.acknowledge();
        QueuePair to = server.createQueuePair(QueuePairInitAttributes.of(SIZES));
        server.accept(saying("I do"));
        CmEvent established = next(clients, CmEvent.Type.ESTABLISHED);
        DatagramParameters destination = ((CmEvent.ServiceResolved) established).datagram();
        established.acknowledge();
        assertThat(text(destination.privateData())).isEqualTo("I do");
        assertThat(established.privateData()).hasSize(REPLY_BYTES);
        assertThat(destination.queuePairNumber()).isEqualTo(to.number());
        assertThat(destination.queueKey()).isEqualTo(DatagramParameters.UDP_QUEUE_KEY);
        send(client, destination, server);
    }

    private static void send(CmId client, DatagramParameters destination, CmId server) {
        try (Arena arena = Arena.ofShared();
                MemoryRegion source = client.protectionDomain().register(arena.allocate(64), AccessFlag.LOCAL_WRITE);
                MemoryRegion target = server.protectionDomain().register(arena.allocate(128), AccessFlag.LOCAL_WRITE);
                AddressHandle handle = client.protectionDomain().createAddressHandle(destination.addressVector())) {
            source.memory().setString(0, "hello");
            Objects.requireNonNull(server.queuePair())
                    .postReceive(new ReceiveWorkRequest().reset(1).into(target));
            Objects.requireNonNull(client.queuePair())
                    .postSend(new SendWorkRequest()
                            .reset(2)
                            .from(source)
                            .to(handle, destination.queuePairNumber(), destination.queueKey())
                            .signaled());
            Session.await(server.receiveCompletions());
            Session.await(client.sendCompletions());
            assertThat(target.memory().getString(40)).isEqualTo("hello");
        }
    }

    @Test
    void serviceIsReachedOverIpv6() {
        InetAddress address = TestDevices.ipv6Address();
        CmId listener = listener(PortSpace.UDP, address);
        CmId client = client(PortSpace.UDP, address, listener.sourcePort());
        client.createQueuePair(QueuePairInitAttributes.of(SIZES));
        client.connect(ConnectionParameters.NONE);
        CmId server = request();
        server.createQueuePair(QueuePairInitAttributes.of(SIZES));
        server.accept();
        CmEvent established = next(clients, CmEvent.Type.ESTABLISHED);
        established.acknowledge();
        send(client, ((CmEvent.ServiceResolved) established).datagram(), server);
    }

    @Test
    void rejectedRequestIsUnreachableWithTheStatus() {
        InetAddress address = TestDevices.freshAddress();
        CmId listener = listener(PortSpace.UDP, address);
        CmId client = client(PortSpace.UDP, address, listener.sourcePort());
        client.connect(ConnectionParameters.NONE.withQueuePairNumber(77));
        request().reject("not today".getBytes(StandardCharsets.UTF_8));
        CmEvent refused = next(clients, CmEvent.Type.UNREACHABLE);
        refused.acknowledge();
        assertThat(refused.status()).isEqualTo(2);
        assertThat(text(refused.privateData())).isEqualTo("not today");
        assertThat(refused.explanation()).contains("rejected the request");
    }

    @Test
    void unknownServiceIsUnreachableWithItsAddress() {
        InetAddress address = TestDevices.freshAddress();
        listener(PortSpace.UDP, address); // a process listens there, but not at that port
        CmId client = client(PortSpace.UDP, address, 4242);
        client.connect(ConnectionParameters.NONE.withQueuePairNumber(77));
        CmEvent refused = next(clients, CmEvent.Type.UNREACHABLE);
        refused.acknowledge();
        assertThat(refused.status()).isEqualTo(1);
        assertThat(refused.explanation()).contains("port 4242");
    }

    @Test
    void unansweredRequestIsRejectedWhenItsIdentifierIsClosed() {
        InetAddress address = TestDevices.freshAddress();
        CmId listener = listener(PortSpace.UDP, address);
        CmId client = client(PortSpace.UDP, address, listener.sourcePort());
        client.connect(ConnectionParameters.NONE.withQueuePairNumber(77));
        request().close();
        CmEvent refused = next(clients, CmEvent.Type.UNREACHABLE);
        refused.acknowledge();
        assertThat(refused.status()).isEqualTo(2);
    }

    @Test
    void portSpacesAreSeparate() {
        InetAddress address = TestDevices.freshAddress();
        CmId datagrams = listener(PortSpace.UDP, address);
        CmId connections = track(servers.createId(PortSpace.TCP));
        connections.bindAddress(new InetSocketAddress(address, datagrams.sourcePort()));
        connections.listen(0);
        CmId client = client(PortSpace.TCP, address, datagrams.sourcePort());
        client.connect(ConnectionParameters.defaults().withQueuePairNumber(77));
        CmEvent request = next(servers, CmEvent.Type.CONNECT_REQUEST);
        track(request.id());
        request.acknowledge();
        assertThat(((CmEvent.ConnectRequest) request).listener()).isEqualTo(connections);
    }

    @Test
    void connectionsOfThePortSpaceOfInfinibandWorkAsThoseOfTcp() {
        InetAddress address = TestDevices.freshAddress();
        CmId listener = listener(PortSpace.IB, address);
        CmId client = client(PortSpace.IB, address, listener.sourcePort());
        client.createQueuePair(QueuePairInitAttributes.of(SIZES));
        CmId server = track(Session.connect(clients, client, servers));
        Session.transfer(client, server, "over service IDs of InfiniBand");
        Session.disconnect(clients, client, servers, server);
    }

    @Test
    void requestIsAnsweredOnceAndThereIsNothingToDisconnect() {
        InetAddress address = TestDevices.freshAddress();
        CmId listener = listener(PortSpace.UDP, address);
        CmId client = client(PortSpace.UDP, address, listener.sourcePort());
        client.connect(ConnectionParameters.NONE.withQueuePairNumber(77));
        CmId server = request();
        server.accept(ConnectionParameters.NONE.withQueuePairNumber(78));
        expect(clients, CmEvent.Type.ESTABLISHED);
        assertRefused(
                Errno.EINVAL,
                "not answered yet",
                () -> server.accept(ConnectionParameters.NONE.withQueuePairNumber(78)));
        if (TestDevices.driver() == Driver.SOFTWARE) { // the kernel ignores the call
            assertRefused(Errno.EINVAL, "there is no connection", client::disconnect);
        }
        assertRefused(
                Errno.EINVAL,
                "ROUTE_RESOLVED",
                () -> client.connect(ConnectionParameters.NONE.withQueuePairNumber(77)));
    }

    @Test
    void tooMuchPrivateDataIsRefused() {
        InetAddress address = TestDevices.freshAddress();
        CmId listener = listener(PortSpace.UDP, address);
        CmId client = client(PortSpace.UDP, address, listener.sourcePort());
        assertThatThrownBy(() -> client.connect(
                        ConnectionParameters.NONE.withQueuePairNumber(7).withPrivateData(new byte[REQUEST_BYTES + 1])))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("more than the 180");
        client.connect(ConnectionParameters.NONE.withQueuePairNumber(7).withPrivateData(new byte[REQUEST_BYTES]));
        CmId server = request();
        assertThatThrownBy(() -> server.accept(
                        ConnectionParameters.NONE.withQueuePairNumber(7).withPrivateData(new byte[REPLY_BYTES + 1])))
                .isInstanceOf(RdmaException.class)
                .hasMessageContaining("more than the 136");
    }

    @Test
    void synchronousCallsOfADatagramServiceReturnWhenTheyAreComplete() throws InterruptedException {
        InetAddress address = TestDevices.freshAddress();
        CmId listener = track(CmId.create(PortSpace.UDP));
        listener.bindAddress(new InetSocketAddress(address, 0));
        listener.listen(0);
        Thread server = Thread.ofVirtual().start(() -> {
            CmId request = track(listener.getRequest());
            request.createQueuePair(QueuePairInitAttributes.of(SIZES));
            request.accept(saying("welcome"));
        });
        CmId client = track(CmId.create(PortSpace.UDP));
        client.resolveAddress(new InetSocketAddress(address, listener.sourcePort()), PATIENCE);
        client.resolveRoute(PATIENCE);
        client.createQueuePair(QueuePairInitAttributes.of(SIZES));
        client.connect(ConnectionParameters.NONE);
        CmEvent event = Objects.requireNonNull(client.event());
        assertThat(event.type()).isEqualTo(CmEvent.Type.ESTABLISHED);
        assertThat(text(((CmEvent.ServiceResolved) event).datagram().privateData()))
                .isEqualTo("welcome");
        assertThat(server.join(PATIENCE)).isTrue();
    }
}
