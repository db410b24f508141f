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

/** Listeners, and interfaces and addresses that come and go under them. */
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

    /** A client asks; returns what the listener has made of it. */
    private SimulatedNetwork.Identifier request() {
        SimulatedNetwork.Identifier active = client.identifier();
        active.id().resolveAddress(null, new InetSocketAddress(server.address, PORT), Duration.ZERO);
        active.take(CmEvent.Type.ADDRESS_RESOLVED);
        active.id().resolveRoute(Duration.ZERO);
        active.take(CmEvent.Type.ROUTE_RESOLVED);
        active.id().connect(new ConnectionParameters(new byte[0], 1, 1, false, 7, 7, false, ++queuePair));
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
    void requestsAtAnInterfaceThatWasMadeAgainAreHeard() {
        server.wildcardAddresses.add(InetAddress.ofLiteral("127.0.0.1"));
        listen();
        assertThat(request().id().device()).isEqualTo(server.device);
        removeDevice();
        assertThat(server.service.addressWatch().look()).isTrue();
        makeDevice("sim0 again");
        assertThat(server.service.addressWatch().look()).isTrue();
        assertThat(request().id().device()).isEqualTo(server.device);
    }

    @Test
    void anInterfaceThatWasMadeAgainBetweenTwoLooksIsHeard() {
        listen();
        removeDevice();
        makeDevice("sim0 again");
        assertThat(server.service.addressWatch().look()).isTrue();
        assertThat(request().id().device()).isEqualTo(server.device);
    }

    @Test
    void anAddressThatHasMovedToAnotherInterfaceIsServedThere() {
        listen();
        server.device = new SimulatedNetwork.NamedDevice("sim1");
        assertThat(server.service.addressWatch().look()).isTrue();
        assertThat(request().id().device()).isEqualTo(server.device);
    }

    @Test
    void anAddressThatWasRefusedIsTriedAgainWhenItsInterfaceReturns() {
        server.wildcardAddresses.clear();
        server.wildcardAddresses.add(InetAddress.ofLiteral("127.0.0.1"));
        listen();
        makeDevice("sim0");
        server.refusal = new RdmaException("rdma_bind_addr", Errno.EADDRINUSE, "held by another program", "");
        assertThat(server.service.addressWatch().look()).isTrue();
        removeDevice();
        assertThat(server.service.addressWatch().look()).isTrue();
        server.refusal = null;
        makeDevice("sim0 again");
        assertThat(server.service.addressWatch().look()).isTrue();
        assertThat(request().id().device()).isEqualTo(server.device);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "10.0.0.2"})
    void requestsAtAnAddressThatHasLeftAndReturnedUseItsNewPlaceInTheTable(String bound) {
        listener.id().bind(new InetSocketAddress(InetAddress.ofLiteral(bound), PORT));
        listener.id().listen(0);
        server.gidIndex = 3;
        server.service.onAddressesChanged(at -> false);
        AddressVector way = request()
                .id()
                .initQueuePairAttributes(QueuePairState.READY_TO_RECEIVE)
                .addressVector();
        assertThat(Objects.requireNonNull(way).sourceGidIndex()).isEqualTo(3);
    }

    @Test
    void everyServiceIsTakenBackAtTheEnd() {
        listen();
        removeDevice();
        assertThat(server.service.addressWatch().look()).isTrue();
        makeDevice("sim0 again");
        assertThat(server.service.addressWatch().look()).isTrue();
        listener.id().close();
        assertThat(server.services).isEmpty();
    }
}
