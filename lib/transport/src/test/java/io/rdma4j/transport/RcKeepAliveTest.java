package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Opcode;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Probes test whether the peer of an idle connection is alive. */
class RcKeepAliveTest {
    private static final long SECOND = 1_000_000_000;
    private static final long INTERVAL = 2 * SECOND;
    private static final long T14 = 4096L << 14;

    private static Pair idlePair() {
        Pair p = new Pair();
        p.a.queuePair.keepAlive(p.now, INTERVAL);
        return p;
    }

    private static void loseAll(Pair p) {
        p.wire = w -> List.of();
    }

    @Test
    void idlePeerAcknowledgesProbesWithoutSideEffects() {
        Pair p = idlePair();
        int sendPsn = p.a.queuePair.sendPsn();
        int receivePsn = p.b.queuePair.receivePsn();
        p.run(p.now + 5 * INTERVAL + SECOND);
        assertThat(p.a.queuePair.counters().idleProbes).isEqualTo(5);
        assertThat(p.sent(true, Opcode.RC_WRITE_ONLY)).isEqualTo(5);
        assertThat(p.sent(false, Opcode.RC_ACKNOWLEDGE)).isEqualTo(5);
        assertThat(p.a.done).isEmpty();
        assertThat(p.b.done).isEmpty();
        assertThat(p.a.queuePair.sendPsn()).isEqualTo(sendPsn);
        assertThat(p.b.queuePair.receivePsn()).isEqualTo(receivePsn);
        assertThat(p.a.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void peerThatForbidsWritesAcknowledgesProbes() {
        Pair p = idlePair();
        p.b.queuePair.changeAccess(0);
        p.run(p.now + 2 * INTERVAL);
        assertThat(p.sent(false, Opcode.RC_ACKNOWLEDGE)).isPositive();
        assertThat(p.b.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void silentPeerIsGivenUpAfterTheIntervalAndTheTimeoutsOfARequest() {
        Pair p = idlePair();
        p.a.postReceive(7, p.a.register(8), 0, 8);
        loseAll(p);
        long end = p.now + INTERVAL + 8 * T14;
        p.run(end - 1);
        assertThat(p.a.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        p.run(end);
        assertThat(p.a.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(p.trace).hasSize(8);
        assertThat(p.a.events).containsExactly(QueuePairEvent.QUEUE_PAIR_FATAL);
        assertThat(p.a.done).extracting(Pair.Done::status).containsExactly(CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        assertThat(p.a.queuePair.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void answeredProbeIsFollowedByTheNextAfterTheIntervalEvenIfTheTimeoutIsLonger() {
        Pair p = new Pair();
        long interval = T14 / 4;
        p.a.queuePair.keepAlive(p.now, interval);
        p.run(p.now + 8 * interval + interval / 2);
        assertThat(p.a.queuePair.counters().idleProbes).isEqualTo(8);
        long silentFrom = p.now - interval / 2;
        loseAll(p);
        p.run(silentFrom + interval + 8 * T14 + interval / 2);
        assertThat(p.a.queuePair.state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void oneAcknowledgementForEightProbesKeepsTheConnection() {
        Pair p = idlePair();
        p.wire = w -> w.fromA() && w.number() % 8 != 0 ? List.of() : List.of(Pair.LATENCY_NANOS);
        p.run(p.now + 10 * INTERVAL);
        assertThat(p.a.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void connectionWithTrafficIsNotProbed() {
        Pair p = idlePair();
        MemoryRegion from = p.a.register(8);
        MemoryRegion to = p.b.register(8);
        for (int i = 0; i < 10; i++) {
            p.a.post(i, SendOpcode.RDMA_WRITE, from, 8, to, 0);
            p.run(p.now + SECOND);
        }
        assertThat(p.a.queuePair.counters().idleProbes).isZero();
    }

    @Test
    void outstandingRequestFailsByItsOwnTimeouts() {
        Pair p = idlePair();
        loseAll(p);
        p.a.post(1, SendOpcode.RDMA_WRITE, p.a.register(8), 8, p.b.register(8), 0);
        p.run(p.now + 10 * SECOND);
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.RETRY_EXCEEDED_ERROR);
        assertThat(p.a.queuePair.counters().idleProbes).isZero();
    }

    @Test
    void resetStopsTheKeepAlive() {
        Pair p = idlePair();
        p.a.queuePair.reset();
        assertThat(p.a.queuePair.keepAliveNanos()).isZero();
        assertThat(p.a.queuePair.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void keepAliveCanBeStopped() {
        Pair p = idlePair();
        p.a.queuePair.keepAlive(p.now, 0);
        assertThat(p.a.queuePair.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
        assertThatThrownBy(() -> p.a.queuePair.keepAlive(p.now, -1)).isInstanceOf(IllegalArgumentException.class);
    }
}
