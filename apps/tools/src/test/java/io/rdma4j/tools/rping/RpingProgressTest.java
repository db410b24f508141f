package io.rdma4j.tools.rping;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class RpingProgressTest {
    private final RpingProgress progress = new RpingProgress(RpingState.IDLE);

    @Test
    void everySignalIsConsumedOnce() {
        progress.signal(RpingState.CONNECTED);
        progress.signal();
        assertThat(progress.await()).isEqualTo(RpingState.CONNECTED);
        assertThat(progress.await()).isEqualTo(RpingState.CONNECTED);
        Thread.currentThread().interrupt();
        assertThat(progress.await()).as("no signal is left").isEqualTo(RpingState.ERROR);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void awaitReturnsTheStateOfTheLastChange() {
        progress.signal(RpingState.READ_ADVERTISED);
        progress.enter(RpingState.READ_COMPLETE);
        assertThat(progress.await()).isEqualTo(RpingState.READ_COMPLETE);
    }

    @Test
    void disconnectedIsFinal() {
        progress.signal(RpingState.DISCONNECTED);
        progress.enter(RpingState.WRITE_ADVERTISED);
        progress.signal(RpingState.ERROR);
        assertThat(progress.await()).isEqualTo(RpingState.DISCONNECTED);
        assertThat(progress.await()).isEqualTo(RpingState.DISCONNECTED);
    }

    @Test
    void waitingForAStateConsumesNoSignal() {
        progress.signal(RpingState.CONNECTED);
        progress.awaitState(RpingState.CONNECTED, TimeUnit.SECONDS.toNanos(10));
        assertThat(progress.await()).isEqualTo(RpingState.CONNECTED);
    }

    @Test
    void waitingForAStateTimesOut() {
        long begin = System.nanoTime();
        progress.awaitState(RpingState.DISCONNECTED, TimeUnit.MILLISECONDS.toNanos(50));
        assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(50));
    }
}
