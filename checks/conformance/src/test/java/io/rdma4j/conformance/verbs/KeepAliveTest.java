package io.rdma4j.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.conformance.device.Capability;
import io.rdma4j.conformance.device.DirectConnections;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Keep-alive detects that the peer of an idle connection has exited. */
@Timeout(60)
class KeepAliveTest {
    private static final Duration SHORT = Duration.ofMillis(20);

    private TestEndpoint a;
    private TestEndpoint b;

    @BeforeEach
    void open() {
        TestDevices.require(Capability.KEEP_ALIVE);
        a = new TestEndpoint(TestDevices.freshAddress());
        b = new TestEndpoint(TestDevices.peerOf(a.address));
    }

    @AfterEach
    void close() {
        if (a != null) { // the device has the feature
            a.close();
            b.close();
        }
    }

    private static void refused(Errno errno, QueuePair queuePair, Duration interval) {
        assertThatThrownBy(() -> queuePair.setKeepAlive(interval))
                .isInstanceOfSatisfying(
                        RdmaException.class, e -> assertThat(e.errno()).isEqualTo(errno));
    }

    @Test
    void exitedIdlePeerIsDetected() {
        DirectConnections.connect(a, b);
        a.postReceive(1);
        a.queuePair.setKeepAlive(SHORT);
        b.queuePair.close();
        assertThat(a.context.awaitAsyncEvent(Duration.ofSeconds(50)))
                .isEqualTo(new AsyncEvent(AsyncEvent.Type.QUEUE_PAIR_FATAL, a.queuePair));
        assertThat(a.completion().status()).isEqualTo(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        assertThat(a.queuePair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void onlyReliableConnectionsReadyToSendHaveKeepAlive() {
        refused(Errno.EINVAL, a.queuePair, SHORT);
        DirectConnections.connect(a, b);
        refused(Errno.EINVAL, a.queuePair, Duration.ofMillis(-1));
        refused(Errno.EINVAL, a.queuePair, Duration.ofDays(1000));
        try (QueuePair datagrams = a.domain.createQueuePair(QueuePairInitAttributes.of(
                QueuePairType.UNRELIABLE_DATAGRAM, a.completions, TestEndpoint.CAPABILITIES))) {
            refused(Errno.EOPNOTSUPP, datagrams, SHORT);
        }
    }
}
