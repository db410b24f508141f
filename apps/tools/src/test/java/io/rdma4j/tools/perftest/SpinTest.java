package io.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SpinTest {
    private static final int POLLS = 20_000;
    private static final long CHECK_MILLIS = 10;
    private static final long LONGER_THAN_CHECK_INTERVAL_MILLIS = 20;

    /**
     * An old version checked after 16,000 polls. They take a minute if each one waits for another thread's time slice.
     */
    @Test
    void checksAreScheduledByTimeNotByNumberOfPolls() throws InterruptedException {
        Spin spin = new Spin();
        assertThat(spin.idle()).isFalse();
        for (int checkPeer = 0; checkPeer < 3; checkPeer++) {
            Thread.sleep(LONGER_THAN_CHECK_INTERVAL_MILLIS); // the next check is due
            assertThat(spin.idle()).isTrue();
        }
    }

    @Test
    void manyPollsDoNotCauseACheck() {
        long startNanos = System.nanoTime();
        Spin spin = new Spin();
        int checks = 0;
        for (int i = 0; i < POLLS; i++) {
            checks += spin.idle() ? 1 : 0;
        }
        long elapsedMillis = (System.nanoTime() - startNanos) / 1_000_000;
        assertThat(checks).isLessThanOrEqualTo((int) (elapsedMillis / CHECK_MILLIS));
    }

    @Test
    void spinsAgainAfterASuccessfulPoll() throws InterruptedException {
        Spin spin = new Spin();
        spin.idle();
        Thread.sleep(LONGER_THAN_CHECK_INTERVAL_MILLIS); // the next check is due
        spin.reset();
        assertThat(spin.idle()).isFalse();
    }
}
