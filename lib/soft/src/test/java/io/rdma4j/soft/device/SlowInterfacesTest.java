package io.rdma4j.soft.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.soft.SoftStack;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A system that takes a long time to list its network interfaces. */
@Timeout(60)
class SlowInterfacesTest {
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private final CountDownLatch listing = new CountDownLatch(1);
    private final CountDownLatch answers = new CountDownLatch(1);

    /** Returns settings with the network of this host, which answers one thread late. */
    private StackSettings settings() {
        return ObservedHost.settings((_, _) -> {
            if (Thread.currentThread().getName().equals("reader")) {
                listing.countDown();
                assertThat(answers.await(PATIENCE.toSeconds() * 3, TimeUnit.SECONDS))
                        .isTrue();
            }
            return null;
        });
    }

    @Test
    void queuePairsAreCreatedAndClosedWhileAThreadReadsTheGids() throws InterruptedException {
        try (SoftStack stack = StackAccess.create(SoftStack.class, settings());
                DeviceContext context = stack.devices().getFirst().open()) {
            ProtectionDomain domain = context.createProtectionDomain();
            CompletionQueue completions = context.createCompletionQueue(1);
            Thread reader = Thread.ofPlatform().name("reader").start(() -> context.gids(1));
            listing.await();
            Thread creator = Thread.ofPlatform()
                    .start(() -> domain.createQueuePair(QueuePairInitAttributes.of(
                                    QueuePairType.RELIABLE_CONNECTION,
                                    completions,
                                    new QueuePairCapabilities(1, 1, 1, 1, 0)))
                            .close());
            boolean isCreated = creator.join(PATIENCE);
            answers.countDown();
            reader.join();
            creator.join();
            assertThat(isCreated).isTrue();
        }
    }
}
