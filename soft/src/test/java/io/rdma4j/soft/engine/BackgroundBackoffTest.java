package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BackgroundBackoffTest {
    private final BackgroundBackoff backoff = new BackgroundBackoff();

    private long pause() {
        long nanos = backoff.begin();
        backoff.end();
        return nanos;
    }

    @Test
    void pausesGrowSlowlyWhileItIsNotNeeded() {
        assertThat(pause()).isEqualTo(BackgroundBackoff.USUAL_NANOS);
        long stoodByNanos = BackgroundBackoff.USUAL_NANOS;
        for (long last = 0, next = pause(); next != last; next = pause()) {
            assertThat(next).isBetween(last, BackgroundBackoff.LONGEST_NANOS);
            stoodByNanos += next;
            last = next;
        }
        assertThat(pause()).isEqualTo(BackgroundBackoff.LONGEST_NANOS);
        assertThat(stoodByNanos).isBetween(30_000_000L, 60_000_000L);
    }

    @Test
    void whenItWasNeededPausesAreUsualAgain() {
        for (int i = 0; i < 100; i++) {
            pause();
        }
        backoff.takeOver();
        assertThat(pause()).isEqualTo(BackgroundBackoff.USUAL_NANOS);
        backoff.expect();
        backoff.takeOver();
        assertThat(pause()).isEqualTo(BackgroundBackoff.SHORTEST_NANOS);
    }

    @Test
    void afterNewsPausesDoubleFromTheShortestToTheUsual() {
        backoff.expect();
        long expected = BackgroundBackoff.SHORTEST_NANOS;
        while (expected < BackgroundBackoff.USUAL_NANOS) {
            assertThat(pause()).isEqualTo(expected);
            expected *= 2;
        }
        assertThat(pause()).isEqualTo(BackgroundBackoff.USUAL_NANOS);
        backoff.expect();
        assertThat(pause()).isEqualTo(BackgroundBackoff.SHORTEST_NANOS);
    }

    @Test
    void onlyAPauseThatIsTooLongIsCutShort() {
        assertThat(backoff.expect()).isFalse();
        assertThat(backoff.begin()).isEqualTo(BackgroundBackoff.SHORTEST_NANOS);
        assertThat(backoff.expect()).isFalse();
        backoff.end();
        pause();
        assertThat(backoff.begin()).isGreaterThan(BackgroundBackoff.SHORTEST_NANOS);
        assertThat(backoff.expect()).isTrue();
        backoff.end();
        assertThat(backoff.expect()).isFalse();
    }

    @Test
    void aPollKeepsTheBackgroundThreadAwayForAMillisecondButForLessAfterNews() {
        assertThat(backoff.isPolling(999_999)).isTrue();
        assertThat(backoff.isPolling(1_000_000)).isFalse();
        backoff.expect();
        assertThat(backoff.isPolling(BackgroundBackoff.SHORTEST_NANOS - 1)).isTrue();
        assertThat(backoff.isPolling(BackgroundBackoff.SHORTEST_NANOS)).isFalse();
    }
}
