package io.rdma4j.soft.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.ConnectionParameters;
import java.net.InetSocketAddress;
import java.time.Duration;

/** Two simulated hosts and the steps of a connection between them. */
final class Dialogue implements AutoCloseable {
    static final int PORT = 7174;

    final SimulatedNetwork network = new SimulatedNetwork();
    final SimulatedNetwork.Host server = network.host("10.0.0.2");
    final SimulatedNetwork.Host client = network.host("10.0.0.1");
    final SimulatedNetwork.Identifier listener = server.listener(PORT, 0);
    SimulatedNetwork.Identifier active = client.identifier();
    SimulatedNetwork.Identifier passive = server.identifier();

    @Override
    public void close() {
        network.close();
    }

    static ConnectionParameters parameters() {
        return ConnectionParameters.defaults().withDepths(1, 1).withQueuePairNumber(0x1234);
    }

    Dialogue resolved() {
        active.id().resolveAddress(null, new InetSocketAddress(server.address, PORT), null, Duration.ZERO);
        active.take(CmEvent.Type.ADDRESS_RESOLVED);
        return this;
    }

    Dialogue routed() {
        resolved();
        active.id().resolveRoute(Duration.ZERO);
        active.take(CmEvent.Type.ROUTE_RESOLVED);
        return this;
    }

    /** The client has sent a request, which has not arrived yet. */
    Dialogue connecting() {
        routed();
        active.id().connect(parameters());
        return this;
    }

    /** The server's application has received the request. */
    Dialogue requested() {
        connecting();
        network.settle();
        passive = listener.requests.remove();
        passive.take(CmEvent.Type.CONNECT_REQUEST);
        passive.id().onRequestTaken();
        return this;
    }

    /** The server has accepted, and the client has been notified. */
    Dialogue answered() {
        requested();
        passive.id().accept(parameters());
        network.settle();
        active.take(CmEvent.Type.CONNECT_RESPONSE);
        return this;
    }

    Dialogue established() {
        answered();
        active.id().establish();
        network.settle();
        passive.take(CmEvent.Type.ESTABLISHED);
        return this;
    }

    /** The client disconnects. The server's application has been notified and has not replied. */
    Dialogue parting() {
        established();
        active.id().disconnect();
        network.settle();
        passive.take(CmEvent.Type.DISCONNECTED);
        return this;
    }
}
