package io.rdma4j.soft.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairState;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Listeners whose interfaces and addresses are removed and added. */
class ListenersAndInterfacesTest {
    private static final int PORT = 7174;

    private final SimulatedNetwork network = new SimulatedNetwork();
    private final SimulatedNetwork.Host server = network.host("10.0.0.2");
    private final SimulatedNetwork.Host client = network.host("10.0.0.1");
    private final SimulatedNetwork.Identifier listener = server.identifier();

    private int queuePair = 0x1234;

    private void listen() {
        listener.id().bind(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), PORT));
        listener.id().listen(0);
    }

    /** Sends a client's request; returns the listener's event. */
    private SimulatedNetwork.Identifier request() {
        SimulatedNetwork.Identifier active = client.identifier();
        active.id().resolveAddress(null, new InetSocketAddress(server.address, PORT), null, Duration.ZERO);
        active.take(CmEvent.Type.ADDRESS_RESOLVED);
        active.id().resolveRoute(Duration.ZERO);
        active.take(CmEvent.Type.ROUTE_RESOLVED);
        active.id().connect(ConnectionParameters.defaults().withDepths(1, 1).withQueuePairNumber(++queuePair));
        network.settle();
        return Objects.requireNonNull(listener.requests.poll(), "the listener has heard nothing");
    }

    private void removeDevice() {
        server.wildcardAddresses.remove(server.address);
        server.service.onDeviceRemoved(server.device);
    }

    private void makeDevice(String name) {
        server.device = new SimulatedNetwork.NamedDevice(name);
        server.wildcardAddresses.add(server.address);
    }

    @Test
    void requestsAtARecreatedInterfaceAreReceived() {
        server.wildcardAddresses.add(InetAddress.ofLiteral("127.0.0.1"));
        listen();
        assertThat(request().id().device()).isEqualTo(server.device);
        removeDevice();
        assertThat(server.service.addressWatch().scan()).isTrue();
        makeDevice("sim0 again");
        assertThat(server.service.addressWatch().scan()).isTrue();
        assertThat(request().id().device()).isEqualTo(server.device);
    }

    @Test
    void requestsAtAnInterfaceRecreatedBetweenTwoScansAreReceived() {
        listen();
        removeDevice();
        makeDevice("sim0 again");
        assertThat(server.service.addressWatch().scan()).isTrue();
        assertThat(request().id().device()).isEqualTo(server.device);
    }

    @Test
    void addressThatMovedToAnotherInterfaceIsServedThere() {
        listen();
        server.device = new SimulatedNetwork.NamedDevice("sim1");
        assertThat(server.service.addressWatch().scan()).isTrue();
        assertThat(request().id().device()).isEqualTo(server.device);
    }

    @Test
    void refusedAddressIsTriedAgainWhenItsInterfaceReturns() {
        server.wildcardAddresses.clear();
        server.wildcardAddresses.add(InetAddress.ofLiteral("127.0.0.1"));
        listen();
        makeDevice("sim0");
        server.refusal = new RdmaException("rdma_bind_addr", Errno.EADDRINUSE, "held by another program", "");
        assertThat(server.service.addressWatch().scan()).isTrue();
        removeDevice();
        assertThat(server.service.addressWatch().scan()).isTrue();
        server.refusal = null;
        makeDevice("sim0 again");
        assertThat(server.service.addressWatch().scan()).isTrue();
        assertThat(request().id().device()).isEqualTo(server.device);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "10.0.0.2"})
    void requestsAtAnAddressThatWasRemovedAndAddedUseItsNewIndex(String bound) {
        listener.id().bind(new InetSocketAddress(InetAddress.ofLiteral(bound), PORT));
        listener.id().listen(0);
        server.gidIndex = 3;
        server.service.onAddressesChanged(at -> false);
        AddressVector addressVector = request()
                .id()
                .initQueuePairAttributes(QueuePairState.READY_TO_RECEIVE)
                .addressVector();
        assertThat(Objects.requireNonNull(addressVector).sourceGidIndex()).isEqualTo(3);
    }

    @Test
    void everyServiceIsUnregisteredAtTheEnd() {
        listen();
        removeDevice();
        assertThat(server.service.addressWatch().scan()).isTrue();
        makeDevice("sim0 again");
        assertThat(server.service.addressWatch().scan()).isTrue();
        listener.id().close();
        assertThat(server.services).isEmpty();
    }
}
