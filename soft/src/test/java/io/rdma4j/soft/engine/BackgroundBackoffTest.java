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
        long pausedNanos = BackgroundBackoff.USUAL_NANOS;
        for (long last = 0, next = pause(); next != last; next = pause()) {
            assertThat(next).isBetween(last, BackgroundBackoff.LONGEST_NANOS);
            pausedNanos += next;
            last = next;
        }
        assertThat(pause()).isEqualTo(BackgroundBackoff.LONGEST_NANOS);
        assertThat(pausedNanos).isBetween(30_000_000L, 60_000_000L);
    }

    @Test
    void pausesAreUsualAgainAfterATakeover() {
        for (int i = 0; i < 100; i++) {
            pause();
        }
        backoff.takeOver();
        assertThat(pause()).isEqualTo(BackgroundBackoff.USUAL_NANOS);
        backoff.onManagementMessage();
        backoff.takeOver();
        assertThat(pause()).isEqualTo(BackgroundBackoff.SHORTEST_NANOS);
    }

    @Test
    void pausesDoubleFromTheShortestToTheUsualAfterAManagementMessage() {
        backoff.onManagementMessage();
        long expected = BackgroundBackoff.SHORTEST_NANOS;
        while (expected < BackgroundBackoff.USUAL_NANOS) {
            assertThat(pause()).isEqualTo(expected);
            expected *= 2;
        }
        assertThat(pause()).isEqualTo(BackgroundBackoff.USUAL_NANOS);
        backoff.onManagementMessage();
        assertThat(pause()).isEqualTo(BackgroundBackoff.SHORTEST_NANOS);
    }

    @Test
    void onlyALongPauseIsCutShort() {
        assertThat(backoff.onManagementMessage()).isFalse();
        assertThat(backoff.begin()).isEqualTo(BackgroundBackoff.SHORTEST_NANOS);
        assertThat(backoff.onManagementMessage()).isFalse();
        backoff.end();
        pause();
        assertThat(backoff.begin()).isGreaterThan(BackgroundBackoff.SHORTEST_NANOS);
        assertThat(backoff.onManagementMessage()).isTrue();
        backoff.end();
        assertThat(backoff.onManagementMessage()).isFalse();
    }

    @Test
    void pollKeepsTheBackgroundThreadAwayForAMillisecondOrLessAfterAManagementMessage() {
        assertThat(backoff.isPolling(999_999)).isTrue();
        assertThat(backoff.isPolling(1_000_000)).isFalse();
        backoff.onManagementMessage();
        assertThat(backoff.isPolling(BackgroundBackoff.SHORTEST_NANOS - 1)).isTrue();
        assertThat(backoff.isPolling(BackgroundBackoff.SHORTEST_NANOS)).isFalse();
    }
}
