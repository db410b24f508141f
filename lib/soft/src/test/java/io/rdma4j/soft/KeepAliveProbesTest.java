package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.QueuePairState;
import java.net.InetAddress;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A probe of an idle connection is a duplicate request, to which a running peer responds. */
@Timeout(30)
class KeepAliveProbesTest {
    private static final Duration PAUSE = Duration.ofMillis(20);

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
    void runningIdlePeerResponds() throws InterruptedException {
        a.queuePair.setKeepAlive(PAUSE);
        while (b.queuePair.counters().getOrDefault("duplicate_request", 0L) < 3) {
            Thread.sleep(PAUSE);
        }
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(b.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        a.queuePair.postWrite(1, a.region, 0, 8, b.region.remote());
        assertThat(a.completion().isSuccess()).isTrue();
    }
}
