package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AdaptiveSpinTest {
    private static final long ANSWER_NANOS = 8_000;

    private final AdaptiveSpin delay = new AdaptiveSpin();

    /** A wait for something that comes after so long, and as much again if the thread sleeps; whether it looked. */
    private boolean waitFor(long nanos) {
        long look = delay.begin();
        boolean found = nanos <= look;
        delay.end(found ? nanos : 2 * nanos, found);
        return look > 0;
    }

    @Test
    void whoWaitsForLongNeverLooks() {
        for (int i = 0; i < 10; i++) {
            assertThat(waitFor(1_000_000)).isFalse();
        }
    }

    @Test
    void answersThatComeSoonAreLookedForFromTheSecondOn() {
        assertThat(waitFor(ANSWER_NANOS)).isFalse();
        for (int i = 0; i < 100; i++) {
            assertThat(waitFor(ANSWER_NANOS)).isTrue();
        }
    }

    @Test
    void onePauseCostsOneLookAndTheWaitAfterIt() {
        boolean _ = waitFor(ANSWER_NANOS);
        assertThat(waitFor(1_000_000)).isTrue();
        assertThat(waitFor(ANSWER_NANOS)).isFalse();
        assertThat(waitFor(ANSWER_NANOS)).isTrue();
    }

    @Test
    void looksInVainGrowRare() {
        // A short wait, and longer than a look nevertheless.
        long tooLong = AdaptiveSpin.SHORT_NANOS;
        int looked = 0;
        for (int i = 0; i < 64_000; i++) {
            long look = delay.begin();
            looked += look > 0 ? 1 : 0;
            delay.end(tooLong, false);
        }
        assertThat(looked).isBetween(1000, 1010);
    }

    @Test
    void oneLookThatFindsMakesLooksFrequentAgain() {
        for (int i = 0; i < 10_000; i++) {
            long _ = delay.begin();
            delay.end(AdaptiveSpin.SHORT_NANOS, false);
        }
        int waits = 0;
        while (!waitFor(ANSWER_NANOS)) {
            waits++;
        }
        assertThat(waits).isLessThanOrEqualTo(AdaptiveSpin.MOST_SKIPPED);
        for (int i = 0; i < 10; i++) {
            assertThat(waitFor(ANSWER_NANOS)).isTrue();
        }
    }
}
