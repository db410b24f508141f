package io.rdma4j.conformance.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.conformance.device.DirectConnections;
import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.TestEndpoint;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.verbs.QueuePairAttributes;
import io.rdma4j.verbs.SendWorkRequest;
import java.net.InetAddress;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A receiver that has polled a message may immediately close its queue pair or context: the message is still
 * acknowledged.
 */
@Timeout(30)
@NotOn(value = Driver.RXE, because = "completes a receive before it acknowledges the message")
class LastAcknowledgementTest {
    private static final int ROUNDS = 20;

    private final InetAddress address = TestDevices.freshAddress();

    /**
     * Repeats the test several times: cold code may be slow enough for the background thread to send the
     * acknowledgement.
     */
    private void sendSucceedsDespite(Consumer<TestEndpoint> receiversEnd) {
        for (int i = 0; i < ROUNDS; i++) {
            sendOnce(receiversEnd);
        }
    }

    private void sendOnce(Consumer<TestEndpoint> receiversEnd) {
        try (TestEndpoint sender = new TestEndpoint(address);
                TestEndpoint receiver = new TestEndpoint(TestDevices.peerOf(address))) {
            DirectConnections.connect(sender, receiver);
            receiver.postReceive(1);
            sender.queuePair.postSend(
                    new SendWorkRequest().reset(2).from(sender.region, 0, 8).signaled());
            assertThat(receiver.completion().isSuccess()).isTrue();
            receiversEnd.accept(receiver);
            assertThat(sender.completion().isSuccess()).isTrue();
        }
    }

    @Test
    void messagePolledBeforeTheQueuePairIsClosedIsAcknowledged() {
        sendSucceedsDespite(receiver -> receiver.queuePair.close());
    }

    @Test
    void messagePolledBeforeTheDeviceIsClosedIsAcknowledged() {
        sendSucceedsDespite(TestEndpoint::close);
    }

    @Test
    void messagePolledBeforeTheQueuePairIsResetIsAcknowledged() {
        sendSucceedsDespite(
                receiver -> receiver.queuePair.modify(new QueuePairAttributes().state(QueuePairState.RESET)));
    }

    @Test
    void messagePolledBeforeTheQueuePairIsPutIntoErrorIsAcknowledged() {
        sendSucceedsDespite(
                receiver -> receiver.queuePair.modify(new QueuePairAttributes().state(QueuePairState.ERROR)));
    }
}
