package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BackgroundBackoffTest {
    private final BackgroundBackoff backoff = new BackgroundBackoff();

    @Test
    void pausesGrowSlowlyWhileItIsNotNeeded() {
        assertThat(backoff.next()).isEqualTo(BackgroundBackoff.USUAL_NANOS);
        long pausedNanos = BackgroundBackoff.USUAL_NANOS;
        for (long last = 0, next = backoff.next(); next != last; next = backoff.next()) {
            assertThat(next).isBetween(last, BackgroundBackoff.LONGEST_NANOS);
            pausedNanos += next;
            last = next;
        }
        assertThat(backoff.next()).isEqualTo(BackgroundBackoff.LONGEST_NANOS);
        assertThat(pausedNanos).isBetween(30_000_000L, 60_000_000L);
    }

    @Test
    void pausesAreUsualAgainAfterATakeover() {
        for (int i = 0; i < 100; i++) {
            long _ = backoff.next();
        }
        backoff.takeOver();
        assertThat(backoff.next()).isEqualTo(BackgroundBackoff.USUAL_NANOS);
    }

    @Test
    void pollIsExpectedToBeRepeatedForAMillisecond() {
        assertThat(BackgroundBackoff.isPolling(999_999)).isTrue();
        assertThat(BackgroundBackoff.isPolling(1_000_000)).isFalse();
    }
}
