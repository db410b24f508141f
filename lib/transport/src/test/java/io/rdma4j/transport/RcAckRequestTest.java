package io.rdma4j.transport;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Timers;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Signaled messages request acknowledgements; of unsignaled ones in quick succession, one of several does. */
class RcAckRequestTest {
    private static final int EXPONENT = 19;

    private final Pair pair = measured(true, 256);
    private final MemoryRegion from = pair.a.register(64);
    private final MemoryRegion to = pair.b.register(64);

    /** Returns a connection on which a round trip has been measured. */
    private static Pair measured(boolean tailLossProbes, int requests) {
        Pair.Options options = new Pair.Options();
        options.timeoutExponent = EXPONENT;
        options.retryCount = 2;
        options.tailLossProbes = tailLossProbes;
        options.requests = requests;
        Pair p = new Pair(options);
        p.a.post(0, SendOpcode.RDMA_WRITE, p.a.register(10), 10, p.b.register(10), 0);
        p.run();
        p.trace.clear();
        return p;
    }

    private static void write(Pair p, MemoryRegion from, MemoryRegion to, boolean signaled, long nanos) {
        SendRequest r = p.a.claim(1, SendOpcode.RDMA_WRITE);
        r.list.add(from, 0, 10);
        r.remoteKey = to.key();
        r.remoteAddress = to.address();
        r.signaled = signaled;
        p.a.publish(r);
        long until = p.now + nanos;
        p.run(until);
        p.now = until;
    }

    private void write(boolean signaled, long nanos) {
        write(pair, from, to, signaled, nanos);
    }

    private static long writes(Pair p, boolean asking) {
        return p.trace.stream()
                .filter(w -> w.opcode() == Opcode.RC_WRITE_ONLY && w.ackRequest() == asking)
                .count();
    }

    private static long acknowledgements(Pair p) {
        return p.trace.stream().filter(w -> w.opcode() == Opcode.RC_ACKNOWLEDGE).count();
    }

    @Test
    void unsignaledMessagesInQuickSuccessionShareAnAckRequest() {
        int rounds = 10;
        for (int i = 0; i < rounds * Requester.MESSAGES_PER_ACK; i++) {
            write(false, 100);
        }
        assertThat(writes(pair, true)).isBetween(rounds - 1L, rounds + 1L);
        pair.run();
        assertThat(acknowledgements(pair)).isBetween(rounds - 1L, rounds + 2L);
        assertThat(pair.a.queuePair.counters().tailLossProbes).isZero();
        assertThat(pair.a.queuePair.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void signaledMessageRequestsAnAcknowledgement() {
        for (int i = 0; i < 10; i++) {
            write(true, 100);
        }
        assertThat(writes(pair, true)).isEqualTo(10);
    }

    @Test
    void isolatedMessageRequestsAnAcknowledgement() {
        pair.now += Requester.ACK_REQUEST_INTERVAL_NANOS;
        for (int i = 0; i < 10; i++) {
            write(false, Requester.ACK_REQUEST_INTERVAL_NANOS);
        }
        assertThat(writes(pair, true)).isEqualTo(10);
    }

    @Test
    void messagesRequestAcknowledgementsWhenTheQueueIsHalfFull() {
        Pair small = measured(true, 8);
        MemoryRegion source = small.a.register(64);
        MemoryRegion target = small.b.register(64);
        small.wire = w -> List.of(10_000L);
        for (int i = 0; i < 8; i++) {
            write(small, source, target, false, 10);
        }
        assertThat(writes(small, true)).isEqualTo(4);
    }

    @Test
    void everyMessageRequestsAnAcknowledgementWithoutTailLossProbes() {
        Pair patient = measured(false, 64);
        MemoryRegion source = patient.a.register(64);
        MemoryRegion target = patient.b.register(64);
        for (int i = 0; i < 10; i++) {
            write(patient, source, target, false, 100);
        }
        assertThat(writes(patient, false)).isZero();
    }

    @Test
    void lostLastMessageWithoutAnAckRequestIsSoonRetransmitted() {
        write(false, 100);
        from.memory().set(JAVA_BYTE, 0, (byte) 77);
        int[] left = {1};
        pair.wire = w -> left[0]-- > 0 ? List.of() : List.of(Pair.LATENCY_NANOS);
        write(false, 100);
        assertThat(writes(pair, false)).isEqualTo(2);
        assertThat(to.memory().get(JAVA_BYTE, 0)).isZero();
        long begin = pair.now;
        pair.run();
        assertThat(to.memory().get(JAVA_BYTE, 0)).isEqualTo((byte) 77);
        assertThat(pair.now - begin).isLessThan(2 * RoundTripEstimator.MIN_NANOS);
        assertThat(pair.a.queuePair.counters().timeouts).isZero();
        assertThat(pair.a.queuePair.sendQueue().head())
                .isEqualTo(pair.a.queuePair.sendQueue().tail());
    }

    @Test
    void lastMessageWithoutAnAckRequestIsRetransmittedOnce() {
        write(false, 100);
        pair.run();
        assertThat(pair.a.queuePair.counters().retransmittedPackets).isEqualTo(1);
        assertThat(pair.a.queuePair.counters().tailLossProbes).isZero();
        assertThat(pair.b.queuePair.counters().duplicateRequests).isEqualTo(1);
        assertThat(acknowledgements(pair)).isEqualTo(1);
        assertThat(pair.a.queuePair.sendQueue().head())
                .isEqualTo(pair.a.queuePair.sendQueue().tail());
    }

    @Test
    void unsignaledMessageToASilentPeerFailsAfterTheUsualTimeouts() {
        long begin = pair.now;
        pair.wire = w -> List.of();
        write(false, 100);
        pair.run();
        assertThat(pair.a.statuses(false)).endsWith(CompletionStatus.RETRY_EXCEEDED_ERROR);
        assertThat(pair.now - begin).isEqualTo(3 * Timers.acknowledgeTimeoutNanos(EXPONENT));
    }
}
