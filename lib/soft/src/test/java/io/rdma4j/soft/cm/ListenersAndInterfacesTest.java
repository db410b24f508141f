package io.rdma4j.soft.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionParameters;
import io.rdma4j.soft.device.SoftDevice;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.AddressVector;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
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
        return Objects.requireNonNull(listener.requests.poll(), "the listener has received no request");
    }

    @AfterEach
    void closeStacks() {
        network.close();
    }

    private void removeDevice() {
        server.interfaces.removeInterface(server.address);
        server.scan();
    }

    private void makeDevice() {
        server.interfaces.add("sim0", server.address);
    }

    /** Returns whether the listener's service is registered at the server's address. */
    private boolean isServed() {
        return server.serves("10.0.0.2", PORT);
    }

    @Test
    void requestsAtARecreatedInterfaceAreReceived() {
        server.interfaces.add("lo", InetAddress.ofLiteral("127.0.0.1"));
        listen();
        assertThat(request().id().device()).isEqualTo(server.device());
        removeDevice();
        assertThat(server.service.addressWatch().scan()).isTrue();
        makeDevice();
        assertThat(server.service.addressWatch().scan()).isTrue();
        assertThat(request().id().device()).isEqualTo(server.device());
    }

    @Test
    void requestsAtAnInterfaceRecreatedBetweenTwoScansAreReceived() {
        listen();
        removeDevice();
        makeDevice();
        assertThat(server.service.addressWatch().scan()).isTrue();
        assertThat(request().id().device()).isEqualTo(server.device());
    }

    @Test
    void addressThatMovedToAnotherInterfaceIsServedThere() {
        listen();
        server.interfaces.removeAddress(server.address);
        server.interfaces.add("sim1", server.address);
        assertThat(server.service.addressWatch().scan()).isTrue();
        assertThat(request().id().device()).isEqualTo(server.device());
    }

    @Test
    void refusedAddressIsTriedAgainWhenItsInterfaceReturns() {
        server.interfaces.removeInterface(server.address);
        server.interfaces.add("lo", InetAddress.ofLiteral("127.0.0.1"));
        listen();
        makeDevice();
        server.refuses = true;
        assertThat(server.service.addressWatch().scan()).isTrue();
        assertThat(isServed()).isFalse();
        server.refuses = false;
        assertThat(server.service.addressWatch().scan()).isTrue();
        assertThat(isServed()).as("a refused address is not tried each time").isFalse();
        removeDevice();
        assertThat(server.service.addressWatch().scan()).isTrue();
        makeDevice();
        assertThat(server.service.addressWatch().scan()).isTrue();
        assertThat(request().id().device()).isEqualTo(server.device());
    }

    @ParameterizedTest
    @ValueSource(strings = {"0.0.0.0", "10.0.0.2"})
    void requestsAtAnAddressThatWasRemovedAndAddedUseItsNewIndex(String bound) {
        listener.id().bind(new InetSocketAddress(InetAddress.ofLiteral(bound), PORT));
        listener.id().listen(0);
        SoftDevice device = server.device();
        int before = device.gidIndex(server.address);
        server.interfaces.add("sim0", InetAddress.ofLiteral("10.0.0.8"));
        server.scan();
        server.interfaces.removeAddress(server.address);
        assertThat(device.addresses()).doesNotContain(server.address);
        server.scan();
        server.interfaces.add("sim0", server.address);
        server.scan();
        int index = device.gidIndex(server.address);
        assertThat(index).isNotEqualTo(before);
        AddressVector addressVector = request()
                .id()
                .initQueuePairAttributes(QueuePairState.READY_TO_RECEIVE)
                .addressVector();
        assertThat(Objects.requireNonNull(addressVector).sourceGidIndex()).isEqualTo(index);
    }

    @Test
    void everyServiceIsUnregisteredAtTheEnd() {
        listen();
        removeDevice();
        assertThat(server.service.addressWatch().scan()).isTrue();
        makeDevice();
        assertThat(server.service.addressWatch().scan()).isTrue();
        assertThat(isServed()).isTrue();
        listener.id().close();
        assertThat(isServed()).isFalse();
    }

    @Test
    void listeningInVirtualTimeStartsNoThread() {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        listen();
        assertThat(Thread.getAllStackTraces().keySet())
                .filteredOn(thread -> thread.getName().startsWith("rdma4j-addresses"))
                .isSubsetOf(before);
    }
}
