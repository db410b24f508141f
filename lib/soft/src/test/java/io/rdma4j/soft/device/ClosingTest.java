package io.rdma4j.soft.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Device;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import java.net.InetAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * A closed object reports nothing, and no object that depends on it is created, whatever another thread does
 * concurrently.
 */
class ClosingTest {
    private static final QueuePairCapabilities CAPABILITIES = new QueuePairCapabilities(4, 4, 1, 1, 0);

    private static DeviceContext open() {
        return Device.of(InetAddress.getLoopbackAddress()).orElseThrow().open();
    }

    /** As when its completion queue overruns at another engine, while it is being closed. */
    @Test
    void failureOfAClosedQueuePairReportsNothing() {
        try (DeviceContext context = open()) {
            ProtectionDomain domain = context.createProtectionDomain();
            CompletionQueue completions = context.createCompletionQueue(16);
            var receives = domain.createSharedReceiveQueue(SharedReceiveQueueInitAttributes.of(4, 1));
            var queuePair = (SoftQueuePair) domain.createQueuePair(
                    QueuePairInitAttributes.reliable(completions, CAPABILITIES).withSharedReceiveQueue(receives));
            queuePair.close();
            queuePair.failSoon();
            assertThat(context.awaitAsyncEvent(Duration.ZERO)).isNull();
        }
    }

    @Test
    void noReporterIsCreatedForAClosedCompletionQueue() {
        try (DeviceContext context = open()) {
            ProtectionDomain domain = context.createProtectionDomain();
            CompletionQueue completions = context.createCompletionQueue(16);
            completions.close();
            assertThatThrownBy(
                            () -> domain.createQueuePair(QueuePairInitAttributes.reliable(completions, CAPABILITIES)))
                    .isInstanceOfSatisfying(
                            RdmaException.class, e -> assertThat(e.errno()).isEqualTo(Errno.EINVAL));
            domain.close(); // the queue pair that was refused does not exist
        }
    }

    @Test
    void channelIsNotClosedWhileACompletionQueueIsCreatedForIt() throws InterruptedException {
        try (DeviceContext context = open()) {
            for (int i = 0; i < 300; i++) {
                CompletionChannel channel = context.createCompletionChannel();
                AtomicReference<@Nullable CompletionQueue> created = new AtomicReference<>();
                Thread maker = Thread.ofPlatform()
                        .start(() -> created.set(orNull(() -> context.createCompletionQueue(1, channel))));
                boolean closed = orNull(() -> {
                            channel.close();
                            return true;
                        })
                        != null;
                maker.join();
                CompletionQueue queue = created.get();
                assertThat(closed).as("round %d", i).isEqualTo(queue == null);
                if (queue != null) {
                    queue.close();
                    channel.close();
                }
            }
        }
    }

    /** Returns the created object, or null if its creation is refused. */
    private static <T> @Nullable T orNull(Supplier<T> maker) {
        try {
            return maker.get();
        } catch (RdmaException _) {
            return null;
        }
    }

    @Test
    void strongerRequestKeepsTheEventOfThePendingOne() {
        EventRequest request = new EventRequest();
        assertThat(request.consume(true)).isFalse();
        request.arm(true);
        assertThat(request.consume(false)).isFalse();
        request.arm(false);
        assertThat(request.consume(false)).isTrue();
        assertThat(request.consume(true)).isFalse();
        request.arm(false);
        request.arm(true); // a weaker request does not replace the pending one
        assertThat(request.consume(false)).isTrue();
    }
}
