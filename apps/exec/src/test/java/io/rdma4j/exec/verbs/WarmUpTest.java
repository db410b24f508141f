package io.rdma4j.exec.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.spi.PrivateDevices;
import org.junit.jupiter.api.Test;

/** Tests the rounds of a {@link WarmUp}, which call the data path through the pointers that C uses. */
class WarmUpTest {
    @Test
    void roundMovesDataAndClosesItsObjects() {
        try (TestNetwork network =
                TestNetwork.builder().traceObjects().recordPackets(1 << 20).build()) {
            TestHost first = network.addHost("10.0.0.1");
            TestHost second = network.addHost("10.0.0.2");
            WarmUp.runRound(devices(first.device(), second.device()), System.nanoTime());
            assertThat(network.packetsSent()).isPositive();
            assertThat(network.openObjects()).isEmpty();
        }
    }

    private static PrivateDevices devices(Device first, Device second) {
        return new PrivateDevices() {
            @Override
            public Device first() {
                return first;
            }

            @Override
            public Device second() {
                return second;
            }

            @Override
            public void close() {}
        };
    }
}
