package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The rate starts unlimited, shrinks with each notification of a round trip, and recovers beyond its former value. */
class SendRateTest {
    private static final int PACKET_BYTES = 950;
    private static final long ROUND_TRIP_NANOS = 100_000;
    private static final long MILLISECOND = 1_000_000;

    private final SendRate rate = new SendRate();
    private long nowNanos = -5_000_000;

    @BeforeEach
    void start() {
        rate.start();
    }

    /** Sends as much as is allowed, at most a packet of 1000 bytes with its headers each microsecond; returns the bytes. */
    private long send(long nanos) {
        long end = nowNanos + nanos;
        long sent = 0;
        for (; nowNanos < end; nowNanos += 1_000) {
            if (rate.maySend(nowNanos, true)) {
                rate.onSent(nowNanos, PACKET_BYTES);
                sent += PACKET_BYTES + 50;
            } else {
                assertThat(rate.deadlineNanos()).isGreaterThan(nowNanos);
            }
        }
        return sent;
    }

    @Test
    void nothingIsHeldBackWithoutANotification() {
        assertThat(send(10 * MILLISECOND)).isEqualTo(10_000_000);
        assertThat(rate.bytesPerSecond()).isEqualTo(Long.MAX_VALUE);
        assertThat(rate.deadlineNanos()).isEqualTo(QueuePairMachine.NEVER);
    }

    @Test
    void firstNotificationHalvesWhatIsSent() {
        long _ = send(10 * MILLISECOND);
        rate.onNotification(nowNanos, ROUND_TRIP_NANOS);
        assertThat((double) rate.bytesPerSecond()).isCloseTo(500e6, within(10e6));
        assertThat((double) send(ROUND_TRIP_NANOS)).isCloseTo(50_000, within(2_000.0));
    }

    @Test
    void rateIsReducedOnceWithinTwoRoundTrips() {
        long _ = send(10 * MILLISECOND);
        rate.onNotification(nowNanos, ROUND_TRIP_NANOS);
        long reduced = rate.bytesPerSecond();
        rate.onNotification(nowNanos + 2 * ROUND_TRIP_NANOS - 1, ROUND_TRIP_NANOS);
        assertThat(rate.bytesPerSecond()).isEqualTo(reduced);
        rate.onNotification(nowNanos + 2 * ROUND_TRIP_NANOS, ROUND_TRIP_NANOS);
        assertThat(rate.bytesPerSecond()).isLessThan(reduced * 3 / 5);
    }

    @Test
    void rareNotificationsReduceTheRateLessThanFrequentOnes() {
        long _ = send(10 * MILLISECOND);
        for (int i = 0; i < 200; i++) {
            rate.onNotification(nowNanos, ROUND_TRIP_NANOS);
            send(12 * ROUND_TRIP_NANOS);
        }
        long before = rate.bytesPerSecond();
        rate.onNotification(nowNanos, ROUND_TRIP_NANOS);
        assertThat((double) rate.bytesPerSecond() / before).isBetween(0.85, 0.96);
    }

    @Test
    void recoversToTheFormerRateAndThenBeyondUntilItIsIrrelevant() {
        long _ = send(10 * MILLISECOND);
        rate.onNotification(nowNanos, ROUND_TRIP_NANOS);
        send(5 * 300_000);
        assertThat((double) rate.bytesPerSecond()).isBetween(900e6, 1005e6);
        send(100 * MILLISECOND);
        assertThat(rate.bytesPerSecond()).isEqualTo(Long.MAX_VALUE);
        assertThat((double) send(MILLISECOND)).isCloseTo(1_000_000, within(1_000.0));
    }

    @Test
    void endlessNotificationsLeaveTheMinimumRate() {
        long _ = send(10 * MILLISECOND);
        for (int i = 0; i < 1000; i++) {
            rate.onNotification(nowNanos, ROUND_TRIP_NANOS);
            nowNanos += 50_000;
        }
        assertThat(rate.bytesPerSecond()).isEqualTo(SendRate.MIN_BYTES_PER_SECOND);
    }

    @Test
    void idleTimeIsMadeUpWithinLimits() {
        long _ = send(10 * MILLISECOND);
        for (int i = 0; i < 20; i++) {
            rate.onNotification(nowNanos, 10 * MILLISECOND);
            nowNanos += 20 * MILLISECOND;
        }
        assertThat(rate.bytesPerSecond()).isLessThan(100_000_000);
        int burst = 0;
        while (rate.maySend(nowNanos, true)) {
            rate.onSent(nowNanos, PACKET_BYTES);
            burst++;
        }
        assertThat(burst * 1000L).isBetween(1000L, rate.bytesPerSecond() / 1000);
    }

    @Test
    void noTimerIsNeededWithoutDataToSend() {
        long _ = send(10 * MILLISECOND);
        rate.onNotification(nowNanos, 10 * MILLISECOND);
        send(100_000);
        rate.onSent(nowNanos, 100_000);
        assertThat(rate.maySend(nowNanos, true)).isFalse();
        assertThat(rate.maySend(nowNanos, false)).isTrue();
        assertThat(rate.deadlineNanos()).isEqualTo(QueuePairMachine.NEVER);
    }

    @Test
    void notificationAfterAPauseLimitsAgainAndHoldsNothingBackIndefinitely() {
        long _ = send(10 * MILLISECOND);
        rate.onNotification(nowNanos, ROUND_TRIP_NANOS);
        while (rate.maySend(nowNanos, true)) {
            rate.onSent(nowNanos, PACKET_BYTES);
        }
        nowNanos += 1_000 * MILLISECOND;
        rate.onNotification(nowNanos, ROUND_TRIP_NANOS);
        assertThat(rate.isPaced()).isTrue();
        assertThat(rate.isHoldingBack()).isFalse();
        assertThat(rate.maySend(nowNanos, true)).isTrue();
    }

    @Test
    void longPauseEndsTheLimitAtOnce() {
        long _ = send(10 * MILLISECOND);
        rate.onNotification(nowNanos, ROUND_TRIP_NANOS);
        nowNanos += 3600L * 1_000 * MILLISECOND;
        assertThat(rate.maySend(nowNanos, true)).isTrue();
        assertThat(rate.bytesPerSecond()).isEqualTo(Long.MAX_VALUE);
    }
}
