package io.rdma4j.soft.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class YieldPolicyTest {
    private static final long LATER_NANOS = YieldPolicy.AFTER_NANOS + 1;

    private final YieldPolicy policy = new YieldPolicy(0);

    private int yields(int polls, long nowNanos) {
        int yields = 0;
        for (int i = 0; i < polls; i++) {
            yields += policy.yieldsAfter(false, nowNanos) ? 1 : 0;
        }
        return yields;
    }

    @Test
    void unsuccessfulPollsDoNotYieldSoonAfterInput() {
        assertThat(yields(100, YieldPolicy.AFTER_NANOS)).isZero();
    }

    @Test
    void oneOfEightUnsuccessfulPollsYieldsLater() {
        assertThat(yields(10 * YieldPolicy.INTERVAL_POLLS, LATER_NANOS)).isEqualTo(10);
    }

    @Test
    void inputRestartsTheTime() {
        assertThat(policy.yieldsAfter(true, LATER_NANOS)).isFalse();

        assertThat(yields(100, LATER_NANOS + YieldPolicy.AFTER_NANOS)).isZero();
        assertThat(yields(YieldPolicy.INTERVAL_POLLS, 2 * LATER_NANOS + 1)).isEqualTo(1);
    }
}
