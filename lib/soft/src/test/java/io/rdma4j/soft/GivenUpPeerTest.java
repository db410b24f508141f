package io.rdma4j.soft;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.SendWorkRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A failed work request is explained by the number of retries and the timeout. */
@Timeout(60)
class GivenUpPeerTest {
    private TestEndpoint a;
    private TestEndpoint b;

    @BeforeEach
    void open() {
        a = new TestEndpoint(TestAddresses.loopback());
        b = new TestEndpoint(TestAddresses.loopback());
    }

    @AfterEach
    void close() {
        a.close();
        b.close();
    }

    private void connect(int retryCount, int rnrRetry, int timeout) {
        TestEndpoint.toInit(a.queuePair);
        a.toReadyToReceive(a.queuePair, b.address, b.queuePair.number(), b.psn);
        a.queuePair.modify(new QueuePairAttributes()
                .state(QueuePairState.READY_TO_SEND)
                .sendPsn(a.psn)
                .maxReadAtomic(1)
                .retryCount(retryCount)
                .rnrRetry(rnrRetry)
                .timeout(timeout));
        b.connect(a.address, a.queuePair.number(), a.psn);
    }

    private CompletionStatus statusOfASend() {
        a.queuePair.postSend(new SendWorkRequest().reset(1).from(a.region, 0, 8).signaled());
        return a.completion().status();
    }

    @Test
    void explanationOfASilentPeerHasTheRetriesAndTheTimeout() {
        connect(2, 7, 15);
        b.queuePair.close();
        CompletionStatus status = statusOfASend();
        assertThat(status).isEqualTo(CompletionStatus.RETRY_EXCEEDED_ERROR);
        assertThat(a.queuePair.explain(status))
                .isEqualTo("transport retry counter exceeded: the peer did not answer; tried 3 times (retry count 2),"
                        + " and waited up to 134.2 ms each time (timeout 15)");
    }

    @Test
    void explanationOfAPeerWithoutReceiveHasTheRnrRetries() {
        connect(7, 1, 15);
        CompletionStatus status = statusOfASend();
        assertThat(status).isEqualTo(CompletionStatus.RNR_RETRY_EXCEEDED_ERROR);
        assertThat(a.queuePair.explain(status))
                .isEqualTo("RNR retry counter exceeded: the peer had no receive posted; tried 2 times (RNR retry count"
                        + " 1)");
    }

    @Test
    void otherStatusesAndUnconnectedQueuePairsHaveTheTextOfTheStatus() {
        assertThat(a.queuePair.explain(CompletionStatus.RETRY_EXCEEDED_ERROR))
                .isEqualTo(CompletionStatus.RETRY_EXCEEDED_ERROR.text());
        connect(7, 7, 14);
        assertThat(a.queuePair.explain(CompletionStatus.REMOTE_ACCESS_ERROR))
                .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR.text());
    }
}
