package io.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SpinTest {
    private static final int POLLS_THAT_KEEP_THE_CORE = 2000;
    private static final long LONGER_THAN_BETWEEN_LOOKS_MILLIS = 20;

    /** Where each poll costs a turn of somebody else, sixteen thousand polls, as it once was, are a minute. */
    @Test
    void looksByTheClockAndNotByTheCountOfPolls() throws InterruptedException {
        Spin spin = new Spin();
        for (int i = 0; i < POLLS_THAT_KEEP_THE_CORE; i++) {
            assertThat(spin.idle()).isFalse();
        }
        for (int checkPeer = 0; checkPeer < 3; checkPeer++) {
            Thread.sleep(LONGER_THAN_BETWEEN_LOOKS_MILLIS);
            assertThat(spin.idle()).isTrue();
        }
    }

    @Test
    void keepsTheCoreAgainAfterSomethingHasCome() throws InterruptedException {
        Spin spin = new Spin();
        for (int i = 0; i < POLLS_THAT_KEEP_THE_CORE; i++) {
            spin.idle();
        }
        Thread.sleep(LONGER_THAN_BETWEEN_LOOKS_MILLIS);
        spin.reset();
        assertThat(spin.idle()).isFalse();
    }
}
