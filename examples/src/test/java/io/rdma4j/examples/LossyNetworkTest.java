package io.rdma4j.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.testkit.ConnectedEnd;
import io.rdma4j.testkit.ConnectedPair;
import io.rdma4j.testkit.junit.Connect;
import io.rdma4j.testkit.junit.RdmaFabric;
import org.junit.jupiter.api.Test;

// tag::test[]
/** A transfer over a network that loses one packet in twenty. */
@RdmaFabric(
        hosts = {"client", "server"},
        loss = "5%")
class LossyNetworkTest {
    @Test
    void aMebibyteArrives(@Connect(memoryBytes = 1 << 20) ConnectedPair pair) {
        ConnectedEnd client = pair.client();
        ConnectedEnd server = pair.server();
        client.memory().fill((byte) 42);
        client.connection().write(client.buffer(), server.remote());
        assertThat(server.memory().mismatch(client.memory())).isEqualTo(-1);
    }
}
// end::test[]
