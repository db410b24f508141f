package io.rdma4j.transport.cm;

import static io.rdma4j.transport.cm.CmFabric.MILLISECOND;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.cm.CmAttribute;
import io.rdma4j.wire.cm.Req;
import org.junit.jupiter.api.Test;

/** Requests that arrive between the bind of a port and its listen wait for the listener, within limits. */
class ExpectedServicesTest {
    private final CmFabric fabric = new CmFabric();
    private final CmHost client = new CmHost(fabric, 1);
    private final CmHost server = new CmHost(fabric, 2);

    private void expectAndConnect() {
        server.agent.expect(fabric.now, CmHost.SERVICE);
        client.connect(server);
        fabric.run(20 * MILLISECOND);
        assertThat(client.events).isEmpty();
        assertThat(server.agent.expected.held()).isEqualTo(1);
    }

    private void onListening() {
        server.agent.onListening(fabric.now, CmHost.SERVICE);
        server.handleEvents();
        fabric.run(20 * MILLISECOND);
    }

    @Test
    void requestBeforeTheListenerIsAccepted() {
        expectAndConnect();
        server.listen();
        onListening();
        assertThat(client.events).containsExactly("reply");
        assertThat(server.agent.expected.held()).isZero();
        assertThat(fabric.sent.get(CmAttribute.REQ))
                .as("without a retransmission")
                .isEqualTo(1);
    }

    @Test
    void requestThatAListenerDoesNotServeYetIsAccepted() {
        ListenedService<Req> _ = server.listen();
        server.matchesRequests = false;
        expectAndConnect();
        server.matchesRequests = true;
        onListening();
        assertThat(client.events).containsExactly("reply");
    }

    @Test
    void requestIsRejectedIfNoListenerAppearsInTime() {
        expectAndConnect();
        fabric.run(ExpectedServices.PATIENCE_NANOS);
        assertThat(client.events).containsExactly("reject 8");
        assertThat(server.agent.expected.held()).isZero();
        client.connect(server);
        fabric.run(20 * MILLISECOND);
        assertThat(client.events).containsExactly("reject 8", "reject 8");
        server.assertNothingLeft();
    }

    @Test
    void repeatedRequestWaitsOnce() {
        expectAndConnect();
        fabric.run(CmConfiguration.DEFAULT_FIRST_RETRANSMIT_NANOS);
        assertThat(fabric.sent.get(CmAttribute.REQ)).isGreaterThan(1);
        assertThat(server.agent.expected.held()).isEqualTo(1);
        server.listen();
        onListening();
        assertThat(server.requested).hasSize(1);
    }

    @Test
    void numberOfWaitingRequestsIsLimited() {
        server.agent.expect(fabric.now, CmHost.SERVICE);
        for (int i = 0; i < 2 * ExpectedServices.MAX_HELD; i++) {
            client.connect(server);
        }
        fabric.run(20 * MILLISECOND);
        assertThat(client.events).isEmpty();
        assertThat(server.agent.expected.held()).isEqualTo(ExpectedServices.MAX_HELD);
    }

    @Test
    void requestForAnotherServiceIsRejectedAtOnce() {
        server.agent.expect(fabric.now, CmHost.SERVICE + 1);
        client.connect(server);
        fabric.run(20 * MILLISECOND);
        assertThat(client.events).containsExactly("reject 8");
    }
}
