package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.TestEndpoint;
import java.net.InetAddress;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Queue pairs and the device count packets and operations by the names of Linux. */
@Timeout(30)
class CountersTest {
    private TestEndpoint a;
    private TestEndpoint b;

    @BeforeEach
    void connect() {
        InetAddress address = TestAddresses.loopback();
        a = new TestEndpoint(address);
        b = new TestEndpoint(address);
        TestEndpoint.connect(a, b);
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    @Test
    void queuePairsAndTheDeviceCountByTheNamesOfLinux() {
        Map<String, Long> before = a.context.counters();
        a.queuePair.postWrite(1, a.region, 0, 10_000, b.region.remote());
        assertThat(a.completion().isSuccess()).isTrue();
        assertThat(a.queuePair.counters()).containsEntry("rdma_sends", 1L).containsEntry("sent_pkts", 10L);
        assertThat(b.queuePair.counters()).containsEntry("rcvd_pkts", 10L).containsEntry("dropped_pkts", 0L);
        a.queuePair.close();
        Map<String, Long> after = a.context.counters();
        // Both queue pairs belong to the loopback device, and remain counted after they are closed.
        assertThat(grown("rdma_sends", before, after)).isEqualTo(1);
        assertThat(grown("rcvd_pkts", before, after)).isGreaterThanOrEqualTo(11);
        assertThat(grown("process_sent_pkts", before, after)).isGreaterThanOrEqualTo(11);
    }

    private static long grown(String name, Map<String, Long> before, Map<String, Long> after) {
        return after.getOrDefault(name, -1L) - before.getOrDefault(name, -1L);
    }
}
