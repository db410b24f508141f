package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.wire.Timers;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The timers of a requester run while packets are in flight; retries are consumed, and restored by progress. */
class RetransmissionTimersTest {
    private static final int EXPONENT = 14;
    private static final long TIMEOUT_NANOS = 4096L << EXPONENT;
    private static final long NEVER = Long.MAX_VALUE;
    private static final long MAX_EXTRA_NANOS = 4_000_000;

    private final RetransmissionTimers timers = new RetransmissionTimers();
    private long now = 1_000;

    @BeforeEach
    void start() {
        start(2, 2, EXPONENT, false);
    }

    private void start(int retryCount, int rnrRetry, int exponent, boolean probes) {
        timers.start(new RcQueuePair.SendParameters(0, 1, retryCount, rnrRetry, exponent, probes));
    }

    @Test
    void noTimerRunsUntilAPacketIsSent() {
        assertThat(timers.deadlineNanos()).isEqualTo(NEVER);
        timers.onSent(now);
        assertThat(timers.deadlineNanos()).isEqualTo(now + TIMEOUT_NANOS);
    }

    @Test
    void furtherPacketsDoNotExtendTheTimeout() {
        timers.onSent(now);
        timers.onSent(now + 500);
        assertThat(timers.deadlineNanos()).isEqualTo(now + TIMEOUT_NANOS);
        assertThat(timers.isTimeoutOver(now + TIMEOUT_NANOS - 1)).isFalse();
        assertThat(timers.isTimeoutOver(now + TIMEOUT_NANOS)).isTrue();
    }

    @Test
    void progressRestartsTheTimeoutAndTheLastAcknowledgementStopsIt() {
        timers.onSent(now);
        timers.onAcknowledged(now + 100, 5, true);
        assertThat(timers.deadlineNanos()).isEqualTo(now + 100 + TIMEOUT_NANOS);
        timers.onAcknowledged(now + 200, 6, false);
        assertThat(timers.deadlineNanos()).isEqualTo(NEVER);
    }

    @Test
    void exponentZeroDisablesTheTimeout() {
        start(2, 2, 0, false);
        timers.onSent(now);
        timers.onAcknowledged(now, 5, true);
        assertThat(timers.deadlineNanos()).isEqualTo(NEVER);
    }

    @Test
    void retriesAreCountedAndRestoredByProgress() {
        assertThat(timers.takeRetry()).isTrue();
        assertThat(timers.takeRetry()).isTrue();
        assertThat(timers.takeRetry()).isFalse();
        timers.onAcknowledged(now, 1, true);
        assertThat(timers.takeRetry()).isTrue();
    }

    @Test
    void rnrRetriesAreCountedAndRestoredByProgress() {
        assertThat(timers.takeRnrRetry()).isTrue();
        assertThat(timers.takeRnrRetry()).isTrue();
        assertThat(timers.takeRnrRetry()).isFalse();
        timers.onAcknowledged(now, 1, true);
        assertThat(timers.takeRnrRetry()).isTrue();
    }

    @Test
    void sevenRnrRetriesAreUnlimited() {
        start(2, 7, EXPONENT, false);
        for (int i = 0; i < 100; i++) {
            assertThat(timers.takeRnrRetry()).isTrue();
        }
    }

    @Test
    void rnrWaitGrowsUpToALimitAndEndsByProgress() {
        int code = 14; // 1.28 ms
        long delay = Timers.rnrNakDelayNanos(code);
        timers.backOff(now, code);
        assertThat(timers.deadlineNanos()).isEqualTo(now + delay);
        assertThat(timers.isWaitingForReceiver()).isTrue();
        timers.onRnrDeadline(now + delay - 1);
        assertThat(timers.isWaitingForReceiver()).isTrue();
        timers.onRnrDeadline(now + delay);
        assertThat(timers.isWaitingForReceiver()).isFalse();
        assertThat(timers.isBackedOff()).isTrue();
        timers.backOff(now, code);
        assertThat(timers.deadlineNanos()).isEqualTo(now + 2 * delay);
        for (int i = 0; i < 20; i++) {
            timers.backOff(now, code);
        }
        assertThat(timers.deadlineNanos()).isEqualTo(now + delay + MAX_EXTRA_NANOS);
        timers.onAcknowledged(now, 1, true);
        assertThat(timers.isWaitingForReceiver()).isFalse();
        assertThat(timers.isBackedOff()).isFalse();
    }

    @Test
    void rnrWaitStopsTheTimeoutAndRestoresTheRetries() {
        timers.onSent(now);
        assertThat(timers.takeRetry()).isTrue();
        assertThat(timers.takeRetry()).isTrue();
        timers.onRewind();
        timers.backOff(now, 1);
        timers.onRnrDeadline(timers.deadlineNanos());
        assertThat(timers.deadlineNanos()).isEqualTo(NEVER);
        assertThat(timers.takeRetry()).isTrue();
    }

    @Test
    void probeTimerExpiresOnceAndDoublesWithEachProbe() {
        start(2, 2, 31, true);
        timers.onSent(now);
        long first = now + RoundTripEstimator.INITIAL_NANOS;
        assertThat(timers.deadlineNanos()).isEqualTo(first);
        assertThat(timers.takeProbe(first - 1)).isFalse();
        assertThat(timers.takeProbe(first)).isTrue();
        assertThat(timers.takeProbe(first)).isFalse();
        timers.onProbe();
        timers.onRewind();
        timers.onSent(first);
        assertThat(timers.deadlineNanos()).isEqualTo(first + 2 * RoundTripEstimator.INITIAL_NANOS);
    }

    @Test
    void measuredRoundTripShortensTheProbeTimer() {
        start(2, 2, EXPONENT, true);
        timers.onResponseRequested(now, 7);
        assertThat(timers.isRoundTripKnown()).isFalse();
        timers.onAcknowledged(now + 10_000, 8, true);
        assertThat(timers.isRoundTripKnown()).isTrue();
        assertThat(timers.deadlineNanos()).isEqualTo(now + 10_000 + RoundTripEstimator.MIN_NANOS);
    }

    @Test
    void retransmissionInvalidatesTheMeasurementInProgress() {
        start(2, 2, EXPONENT, true);
        timers.onResponseRequested(now, 7);
        timers.onRewind();
        timers.onAcknowledged(now + 10_000, 8, false);
        assertThat(timers.isRoundTripKnown()).isFalse();
    }

    @ParameterizedTest
    @CsvSource({
        "1000000, false, 1000000",
        "1000000, true, 4000000",
        "20000000, true, 50000000",
        "60000000, true, 60000000",
        "9223372036854775807, true, 9223372036854775807"
    })
    void timeoutMayBeLongerWithProbesButAtMostFourTimes(long timeoutNanos, boolean probes, long expected) {
        assertThat(RetransmissionTimers.retryTimeoutNanos(timeoutNanos, probes)).isEqualTo(expected);
    }
}
