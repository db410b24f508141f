package io.rdma4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.Connecting;
import io.rdma4j.Connection;
import io.rdma4j.ConnectionRequest;
import io.rdma4j.Listener;
import io.rdma4j.cm.ConnectionRejectedException;
import io.rdma4j.verbs.RdmaTimeoutException;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A connection that is not established leaves nothing open. */
class FailedConnectionsTest {
    private static final int COUNT = 16;
    private static final int BYTES = 4096;

    private final TestNetwork network =
            TestNetwork.builder().virtualTime().traceObjects().build();
    private final TestHost client = network.addHost("10.0.0.1");
    private final TestHost server = network.addHost("10.0.0.2");

    @AfterEach
    void close() {
        network.close();
    }

    private InetSocketAddress at(int port) {
        return new InetSocketAddress(server.address(), port);
    }

    private Connecting start(InetSocketAddress address) {
        return Connection.to(address)
                .over(client.connectionManager())
                .messages(COUNT, BYTES)
                .start();
    }

    @Test
    void aRejectedConnectionLeavesNothing() {
        try (Listener listener = Listener.bind(server.connectionManager(), at(0))) {
            int unused = listener.address().getPort() == 7000 ? 7001 : 7000;
            assertThatExceptionOfType(ConnectionRejectedException.class)
                    .isThrownBy(() -> start(at(unused)).await());
        }
        assertThat(network.openObjects()).isEmpty();
    }

    @Test
    void aConnectionThatWasGivenUpLeavesNothing() {
        try (Listener listener = Listener.bind(server.connectionManager(), at(0))) {
            Connecting connecting = start(listener.address());
            ConnectionRequest request = listener.accept();
            connecting.close();
            assertThatExceptionOfType(ConnectionRejectedException.class)
                    .isThrownBy(() -> request.messages(COUNT, BYTES).accept());
        }
        assertThat(network.openObjects()).isEmpty();
    }

    @Test
    void anAcceptanceThatIsNotConfirmedLeavesNothing() {
        try (Listener listener = Listener.bind(server.connectionManager(), at(0));
                Connecting _ = start(listener.address())) {
            ConnectionRequest request = listener.accept();
            network.conditions("loss=100%");
            assertThatExceptionOfType(RdmaTimeoutException.class)
                    .isThrownBy(() -> request.messages(COUNT, BYTES)
                            .timeout(Duration.ofSeconds(2))
                            .accept());
        }
        assertThat(network.openObjects()).isEmpty();
    }
}
