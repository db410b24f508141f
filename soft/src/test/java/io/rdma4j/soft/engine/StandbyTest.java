package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class StandbyTest {
    private final Standby standby = new Standby();

    private long pause() {
        long nanos = standby.begin();
        standby.end();
        return nanos;
    }

    @Test
    void withoutNewsEachPauseIsTheLongest() {
        for (int i = 0; i < 10; i++) {
            assertThat(pause()).isEqualTo(Standby.LONGEST_NANOS);
        }
    }

    @Test
    void afterNewsPausesGrowFromTheShortestToTheLongest() {
        standby.expect();
        long expected = Standby.SHORTEST_NANOS;
        while (expected < Standby.LONGEST_NANOS) {
            assertThat(pause()).isEqualTo(expected);
            expected *= 2;
        }
        assertThat(pause()).isEqualTo(Standby.LONGEST_NANOS);
        standby.expect();
        assertThat(pause()).isEqualTo(Standby.SHORTEST_NANOS);
    }

    @Test
    void onlyAPauseThatIsTooLongIsCutShort() {
        assertThat(standby.expect()).isFalse();
        assertThat(standby.begin()).isEqualTo(Standby.SHORTEST_NANOS);
        assertThat(standby.expect()).isFalse();
        standby.end();
        pause();
        assertThat(standby.begin()).isGreaterThan(Standby.SHORTEST_NANOS);
        assertThat(standby.expect()).isTrue();
        standby.end();
        assertThat(standby.expect()).isFalse();
    }

    @Test
    void aPollKeepsTheBackgroundThreadAwayForAMillisecondButForLessAfterNews() {
        assertThat(standby.isPolling(999_999)).isTrue();
        assertThat(standby.isPolling(1_000_000)).isFalse();
        standby.expect();
        assertThat(standby.isPolling(Standby.SHORTEST_NANOS - 1)).isTrue();
        assertThat(standby.isPolling(Standby.SHORTEST_NANOS)).isFalse();
    }
}
