package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class BackgroundBackoffTest {
    private final BackgroundBackoff standby = new BackgroundBackoff();

    private long pause() {
        long nanos = standby.begin();
        standby.end();
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
        standby.takeOver();
        assertThat(pause()).isEqualTo(BackgroundBackoff.USUAL_NANOS);
        standby.expect();
        standby.takeOver();
        assertThat(pause()).isEqualTo(BackgroundBackoff.SHORTEST_NANOS);
    }

    @Test
    void afterNewsPausesDoubleFromTheShortestToTheUsual() {
        standby.expect();
        long expected = BackgroundBackoff.SHORTEST_NANOS;
        while (expected < BackgroundBackoff.USUAL_NANOS) {
            assertThat(pause()).isEqualTo(expected);
            expected *= 2;
        }
        assertThat(pause()).isEqualTo(BackgroundBackoff.USUAL_NANOS);
        standby.expect();
        assertThat(pause()).isEqualTo(BackgroundBackoff.SHORTEST_NANOS);
    }

    @Test
    void onlyAPauseThatIsTooLongIsCutShort() {
        assertThat(standby.expect()).isFalse();
        assertThat(standby.begin()).isEqualTo(BackgroundBackoff.SHORTEST_NANOS);
        assertThat(standby.expect()).isFalse();
        standby.end();
        pause();
        assertThat(standby.begin()).isGreaterThan(BackgroundBackoff.SHORTEST_NANOS);
        assertThat(standby.expect()).isTrue();
        standby.end();
        assertThat(standby.expect()).isFalse();
    }

    @Test
    void aPollKeepsTheBackgroundThreadAwayForAMillisecondButForLessAfterNews() {
        assertThat(standby.isPolling(999_999)).isTrue();
        assertThat(standby.isPolling(1_000_000)).isFalse();
        standby.expect();
        assertThat(standby.isPolling(BackgroundBackoff.SHORTEST_NANOS - 1)).isTrue();
        assertThat(standby.isPolling(BackgroundBackoff.SHORTEST_NANOS)).isFalse();
    }
}
