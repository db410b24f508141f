package io.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SpinTest {
    private static final int POLLS_BEFORE_YIELD = 2000;
    private static final long LONGER_THAN_CHECK_INTERVAL_MILLIS = 20;

    /**
     * If each poll waits for another thread's time slice, counting 16,000 polls, as an old version did, takes a minute.
     */
    @Test
    void checksAreScheduledByTimeNotByNumberOfPolls() throws InterruptedException {
        Spin spin = new Spin();
        for (int i = 0; i < POLLS_BEFORE_YIELD; i++) {
            assertThat(spin.idle()).isFalse();
        }
        for (int checkPeer = 0; checkPeer < 3; checkPeer++) {
            Thread.sleep(LONGER_THAN_CHECK_INTERVAL_MILLIS);
            assertThat(spin.idle()).isTrue();
        }
    }

    @Test
    void spinsAgainAfterASuccessfulPoll() throws InterruptedException {
        Spin spin = new Spin();
        for (int i = 0; i < POLLS_BEFORE_YIELD; i++) {
            spin.idle();
        }
        Thread.sleep(LONGER_THAN_CHECK_INTERVAL_MILLIS);
        spin.reset();
        assertThat(spin.idle()).isFalse();
    }
}
