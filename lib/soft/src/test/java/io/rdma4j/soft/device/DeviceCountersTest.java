package io.rdma4j.soft.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.transport.QueuePairCounters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DeviceCountersTest {
    private static final int QUEUE_PAIRS = 100_000;

    private final DeviceCounters counters = new DeviceCounters();

    private static QueuePairCounters counted(long sentPackets) {
        QueuePairCounters counted = new QueuePairCounters();
        counted.sentPackets = sentPackets;
        return counted;
    }

    @Test
    void openAndClosedQueuePairsAreIncludedOnce() {
        QueuePairCounters first = counted(5);
        QueuePairCounters second = counted(70);
        counters.add(first);
        counters.add(second);
        first.sentPackets = 6;
        assertThat(counters.sums().sentPackets).isEqualTo(76);
        counters.close(first);
        counters.close(first);
        assertThat(counters.sums().sentPackets).isEqualTo(76);
    }

    @Test
    void sumsNeverDecreaseWhileQueuePairsAreClosed() throws InterruptedException {
        Thread churn = Thread.ofPlatform().start(() -> {
            for (int i = 0; i < QUEUE_PAIRS; i++) {
                QueuePairCounters counted = counted(1);
                counters.add(counted);
                counters.close(counted);
            }
        });
        long last = 0;
        while (churn.isAlive()) {
            long sum = counters.sums().sentPackets;
            assertThat(sum).isBetween(last, (long) QUEUE_PAIRS);
            last = sum;
        }
        churn.join();
        assertThat(counters.sums().sentPackets).isEqualTo(QUEUE_PAIRS);
    }
}
