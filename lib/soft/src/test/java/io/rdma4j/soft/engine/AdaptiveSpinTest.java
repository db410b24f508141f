package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class AdaptiveSpinTest {
    private static final long RESPONSE_NANOS = 8_000;

    private final AdaptiveSpin spin = new AdaptiveSpin();

    /**
     * Waits for an event after {@code nanos}, or twice as long if the thread blocks. Returns whether the thread spun.
     */
    private boolean waitFor(long nanos) {
        long spinNanos = spin.begin();
        boolean found = nanos <= spinNanos;
        spin.end(found ? nanos : 2 * nanos, found);
        return spinNanos > 0;
    }

    @Test
    void longWaitsNeverSpin() {
        for (int i = 0; i < 10; i++) {
            assertThat(waitFor(1_000_000)).isFalse();
        }
    }

    @Test
    void quickResponsesAreSpunForFromTheSecondOn() {
        assertThat(waitFor(RESPONSE_NANOS)).isFalse();
        for (int i = 0; i < 100; i++) {
            assertThat(waitFor(RESPONSE_NANOS)).isTrue();
        }
    }

    @Test
    void oneLongWaitCostsOneSpinAndSkipsTheNext() {
        boolean _ = waitFor(RESPONSE_NANOS);
        assertThat(waitFor(1_000_000)).isTrue();
        assertThat(waitFor(RESPONSE_NANOS)).isFalse();
        assertThat(waitFor(RESPONSE_NANOS)).isTrue();
    }

    @Test
    void unsuccessfulSpinsBecomeRare() {
        // A short wait, but longer than a spin.
        long tooLong = AdaptiveSpin.SHORT_NANOS;
        int spins = 0;
        for (int i = 0; i < 64_000; i++) {
            spins += spin.begin() > 0 ? 1 : 0;
            spin.end(tooLong, false);
        }
        assertThat(spins).isBetween(1000, 1010);
    }

    @Test
    void oneSuccessfulSpinMakesSpinsFrequentAgain() {
        for (int i = 0; i < 10_000; i++) {
            long _ = spin.begin();
            spin.end(AdaptiveSpin.SHORT_NANOS, false);
        }
        int waits = 0;
        while (!waitFor(RESPONSE_NANOS)) {
            waits++;
        }
        assertThat(waits).isLessThanOrEqualTo(AdaptiveSpin.MAX_SKIPPED);
        for (int i = 0; i < 10; i++) {
            assertThat(waitFor(RESPONSE_NANOS)).isTrue();
        }
    }
}
