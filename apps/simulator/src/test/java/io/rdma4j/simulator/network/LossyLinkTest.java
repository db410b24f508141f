package io.rdma4j.simulator.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the throughput of a connection over a link that loses packets independently in both directions.
 *
 * <p>It runs in virtual time, with a fixed seed. Between real processes the wake-up of processors matters as well: see
 * test 9 of the acceptance tests.
 */
class LossyLinkTest {
    private static final long BUFFER_BYTES = 512 << 10;
    private static final long BEGIN_MILLIS = 50;
    private static final long MILLIS = 800;

    @ParameterizedTest
    @CsvSource({
        "300, 30, 1024", // comparable to two processes of a small machine, over Ethernet of 1500 bytes
        "1250, 20, 4096", // 10 Gbit/s, jumbo frames
        "1250, 5, 4096",
    })
    void keepsMostOfItsThroughputOverALossyLink(int megabytesPerSecond, int latencyMicros, int mtu) {
        double lossless = bytesWritten(megabytesPerSecond, latencyMicros, mtu, 0);
        assertThat(bytesWritten(megabytesPerSecond, latencyMicros, mtu, 0.001)).isGreaterThan(0.85 * lossless);
        assertThat(bytesWritten(megabytesPerSecond, latencyMicros, mtu, 0.01)).isGreaterThan(0.6 * lossless);
        assertThat(bytesWritten(megabytesPerSecond, latencyMicros, mtu, 0.05)).isGreaterThan(0.25 * lossless);
        assertThat(bytesWritten(megabytesPerSecond, latencyMicros, mtu, 0.1)).isGreaterThan(0.1 * lossless);
    }

    private static double bytesWritten(int megabytesPerSecond, int latencyMicros, int mtu, double loss) {
        long latencyNanos = TimeUnit.MICROSECONDS.toNanos(latencyMicros);
        VirtualNetwork network = new VirtualNetwork(1, new NetworkFaults(loss, 0, 0, 0, latencyNanos, 0));
        SimulatedHost receiver = network.addHost();
        network.slowDown(receiver, megabytesPerSecond * 1_000_000L, BUFFER_BYTES);
        WritingFlow flow = new WritingFlow(network, receiver, mtu);
        run(network, BEGIN_MILLIS);
        long before = flow.written();
        run(network, MILLIS);
        return flow.written() - before;
    }

    private static void run(VirtualNetwork network, long millis) {
        long end = network.nowNanos() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (network.nowNanos() < end) {
            assertThat(network.step()).isTrue();
        }
    }
}
