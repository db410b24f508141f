package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Timers;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tail-loss probes repair losses early; they do not affect when a peer is given up. */
class RcTailLossProbeTest {
    private static final int EXPONENT = 19;

    private final Pair pair = new Pair(options(true));

    private static Pair.Options options(boolean tailLossProbes) {
        Pair.Options options = new Pair.Options();
        options.timeoutExponent = EXPONENT;
        options.retryCount = 2;
        options.tailLossProbes = tailLossProbes;
        return options;
    }

    private static void write(Pair p, int id) {
        p.a.post(id, SendOpcode.RDMA_WRITE, p.a.register(10), 10, p.b.register(10), 0);
        p.run();
    }

    private static void loseNext(Pair p, int count) {
        int[] left = {count};
        p.wire = w -> left[0]-- > 0 ? List.of() : List.of(Pair.LATENCY_NANOS);
    }

    @Test
    void lostLastPacketIsProbedAfterAFewRoundTripsWithoutConsumingARetry() {
        for (int i = 0; i < 10; i++) {
            write(pair, i);
        }
        long begin = pair.now;
        loseNext(pair, 1);
        write(pair, 10);
        assertThat(pair.now - begin).isBetween(RoundTripEstimator.MIN_NANOS, 3 * RoundTripEstimator.MIN_NANOS);
        assertThat(pair.a.queuePair.counters().tailLossProbes).isEqualTo(1);
        assertThat(pair.a.queuePair.counters().timeouts).isZero();
        assertThat(pair.a.statuses(false)).hasSize(11).containsOnly(CompletionStatus.SUCCESS);
    }

    @Test
    void eachUnansweredProbeDoublesTheTimeToTheNext() {
        write(pair, 0);
        long begin = pair.now;
        loseNext(pair, 5);
        write(pair, 1);
        assertThat(pair.now - begin).isBetween(31 * RoundTripEstimator.MIN_NANOS, 40 * RoundTripEstimator.MIN_NANOS);
        assertThat(pair.a.queuePair.counters().tailLossProbes).isEqualTo(5);
    }

    @Test
    void silentPeerIsGivenUpAtTheSameTimeWithAndWithoutProbes() {
        for (boolean probes : new boolean[] {false, true}) {
            Pair p = new Pair(options(probes));
            write(p, 0);
            long begin = p.now;
            p.wire = w -> List.of();
            write(p, 1);
            assertThat(p.a.statuses(false))
                    .containsExactly(CompletionStatus.SUCCESS, CompletionStatus.RETRY_EXCEEDED_ERROR);
            assertThat(p.now - begin).isEqualTo(3 * Timers.acknowledgeTimeoutNanos(EXPONENT));
        }
    }

    @Test
    void probesExtendAShortTimeoutWithinTheLimitsOfTheSpecification() {
        assertThat(nanosUntilGivenUp(10, true)).isEqualTo(3 * 4 * Timers.acknowledgeTimeoutNanos(10));
        assertThat(nanosUntilGivenUp(12, true)).isEqualTo(3 * RetransmissionTimers.MIN_SILENCE_NANOS);
        assertThat(nanosUntilGivenUp(14, true)).isEqualTo(3 * Timers.acknowledgeTimeoutNanos(14));
        assertThat(nanosUntilGivenUp(10, false)).isEqualTo(3 * Timers.acknowledgeTimeoutNanos(10));
    }

    private static long nanosUntilGivenUp(int timeoutExponent, boolean tailLossProbes) {
        Pair.Options options = options(tailLossProbes);
        options.timeoutExponent = timeoutExponent;
        Pair p = new Pair(options);
        p.wire = w -> List.of();
        long begin = p.now;
        write(p, 0);
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.RETRY_EXCEEDED_ERROR);
        return p.now - begin;
    }

    @Test
    void firstProbeIsLateBeforeARoundTripIsMeasured() {
        long begin = pair.now;
        loseNext(pair, 1);
        write(pair, 0);
        assertThat(pair.now - begin).isBetween(RoundTripEstimator.INITIAL_NANOS, 2 * RoundTripEstimator.INITIAL_NANOS);
    }

    @Test
    void nothingIsRetransmittedWithoutLoss() {
        for (int i = 0; i < 1000; i++) {
            write(pair, i);
        }
        assertThat(pair.a.queuePair.counters().retransmittedPackets).isZero();
        assertThat(pair.a.queuePair.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }
}
