package io.rdma4j.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * What a connection keeps of a link that loses packets both ways, each by itself: simulated, in virtual time, with a fixed
 * seed. Between real processes the waking of processors counts as well: test 9 of the acceptance tests.
 */
class LossyLinkTest {
    private static final long BUFFER_BYTES = 512 << 10;
    private static final long BEGIN_MILLIS = 50;
    private static final long MILLIS = 800;

    @ParameterizedTest
    @CsvSource({
        "300, 30, 1024", // what two processes of a small machine are to each other, over Ethernet of 1500 bytes
        "1250, 20, 4096", // 10 Gbit/s, jumbo frames
        "1250, 5, 4096",
    })
    void keepsItsPartOfALinkThatLosesPackets(int megabytesPerSecond, int latencyMicros, int mtu) {
        double lossless = written(megabytesPerSecond, latencyMicros, mtu, 0);
        assertThat(written(megabytesPerSecond, latencyMicros, mtu, 0.001)).isGreaterThan(0.85 * lossless);
        assertThat(written(megabytesPerSecond, latencyMicros, mtu, 0.01)).isGreaterThan(0.6 * lossless);
        assertThat(written(megabytesPerSecond, latencyMicros, mtu, 0.05)).isGreaterThan(0.25 * lossless);
        assertThat(written(megabytesPerSecond, latencyMicros, mtu, 0.1)).isGreaterThan(0.1 * lossless);
    }

    private static double written(int megabytesPerSecond, int latencyMicros, int mtu, double loss) {
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
