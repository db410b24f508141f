package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Opcode;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** The drained and error states of the send queue. */
class SendQueueStatesTest {
    private static final int ACCESS = Pair.ALL_ACCESS;

    // ---- reliable ----

    @Test
    void drainingFinishesStartedMessagesAndStartsNoOthers() {
        Pair pair = new Pair();
        MemoryRegion local = pair.a.register(8192);
        MemoryRegion remote = pair.b.register(8192);
        pair.wire = w -> w.number() == 1 && w.fromA() ? List.of() : List.of(Pair.LATENCY_NANOS);
        pair.a.post(1, SendOpcode.RDMA_WRITE, local, 3000, remote, 0);
        pair.pump(pair.a);
        pair.a.queuePair.drain(true);
        pair.a.post(2, SendOpcode.RDMA_WRITE, local, 8, remote, 0);
        assertThat(pair.a.queuePair.isDraining()).isTrue();
        assertThatThrownBy(pair.a.queuePair::resume).isInstanceOf(IllegalStateException.class);
        pair.run();
        assertThat(pair.a.ids(false)).containsExactly(1L);
        assertThat(pair.a.statuses(false)).containsOnly(CompletionStatus.SUCCESS);
        assertThat(pair.a.events).containsExactly(QueuePairEvent.SEND_QUEUE_DRAINED);
        assertThat(pair.a.queuePair.isDraining()).isFalse();
        pair.a.queuePair.resume();
        pair.run();
        assertThat(pair.a.ids(false)).containsExactly(1L, 2L);
    }

    @Test
    void drainedQueuePairServesItsPeer() {
        Pair pair = new Pair();
        MemoryRegion ofA = pair.a.register(8192);
        MemoryRegion ofB = pair.b.register(8192);
        pair.a.queuePair.drain(false);
        assertThat(pair.a.events).isEmpty();
        pair.a.postReceive(1, ofA, 0, 64);
        pair.b.post(2, SendOpcode.SEND, ofB, 0, 64);
        pair.b.post(3, SendOpcode.RDMA_READ, ofB, 4096, ofA, 0);
        pair.run();
        assertThat(pair.b.statuses(false)).containsExactly(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS);
        assertThat(pair.a.ids(true)).containsExactly(1L);
    }

    @Test
    void changedDepthAndTimeoutApplyAfterDraining() {
        Pair pair = new Pair();
        MemoryRegion local = pair.a.register(8192);
        MemoryRegion remote = pair.b.register(8192);
        pair.a.queuePair.drain(false);
        RcQueuePair.ReceiveParameters receive = Objects.requireNonNull(pair.a.queuePair.receiveParameters());
        pair.a.queuePair.change(receive, new RcQueuePair.SendParameters(0, 1, 0, 0, 10));
        pair.a.queuePair.resume();
        pair.a.post(1, SendOpcode.RDMA_READ, local, 8, remote, 0);
        pair.a.post(2, SendOpcode.RDMA_READ, local, 8, remote, 0);
        pair.pump(pair.a);
        assertThat(pair.sent(true, Opcode.RC_READ_REQUEST)).isEqualTo(1);
        long begin = pair.now;
        pair.dropAllInFlight();
        pair.run();
        assertThat(pair.a.statuses(false))
                .containsExactly(CompletionStatus.RETRY_EXCEEDED_ERROR, CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        assertThat(pair.now - begin).isLessThan(4 * 4096L << 10);
    }

    @Test
    void answeredAtomicsAreRememberedWhenTheResponderDepthChanges() {
        Pair pair = new Pair();
        MemoryRegion local = pair.a.register(8192);
        MemoryRegion remote = pair.b.register(8192);
        pair.wire = w -> w.fromA() ? List.of(Pair.LATENCY_NANOS) : List.of();
        pair.a.post(1, SendOpcode.FETCH_AND_ADD, local, 8, remote, 0);
        pair.run(pair.now + 10 * Pair.LATENCY_NANOS);
        pair.b.queuePair.drain(false);
        RcQueuePair.ReceiveParameters old = Objects.requireNonNull(pair.b.queuePair.receiveParameters());
        pair.b.queuePair.change(
                new RcQueuePair.ReceiveParameters(old.peer(), old.pathMtuBytes(), old.receivePsn(), 16, 12),
                Objects.requireNonNull(pair.b.queuePair.sendParameters()));
        pair.wire = w -> List.of(Pair.LATENCY_NANOS);
        pair.run();
        assertThat(pair.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS);
        assertThat(pair.b.queuePair.counters().duplicateRequests).isPositive();
    }

    @Test
    void failureWhileDrainingRaisesNoDrainedEvent() {
        Pair pair = new Pair();
        MemoryRegion local = pair.a.register(8192);
        pair.wire = w -> List.of();
        pair.a.post(1, SendOpcode.SEND, local, 0, 8);
        pair.pump(pair.a);
        pair.a.queuePair.drain(true);
        pair.run();
        assertThat(pair.a.statuses(false)).containsExactly(CompletionStatus.RETRY_EXCEEDED_ERROR);
        assertThat(pair.a.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(pair.a.queuePair.isDraining()).isFalse();
        assertThat(pair.a.events).isEmpty();
    }

    // ---- unreliable ----

    @Test
    void startedUnreliableMessageIsFinishedWhileDraining() {
        UcPair pair = new UcPair();
        MemoryRegion local = pair.a.register(new byte[4096], ACCESS);
        MemoryRegion remote = pair.b.register(new byte[4096], ACCESS);
        pair.a.post(1, SendOpcode.RDMA_WRITE, local, 3000, remote);
        pair.a.post(2, SendOpcode.RDMA_WRITE, local, 8, remote);
        byte[] room = new byte[UcPair.MTU + QueuePairMachine.HEADER_ROOM_BYTES];
        assertThat(pair.a.queuePair.pollTransmit(0, MemorySegment.ofArray(room), 0))
                .isPositive();
        pair.a.queuePair.drain(true);
        assertThat(pair.a.queuePair.isDraining()).isTrue();
        assertThat(pair.a.sent()).hasSize(2);
        assertThat(pair.a.events).containsExactly(QueuePairEvent.SEND_QUEUE_DRAINED);
        pair.a.queuePair.resume();
        assertThat(pair.a.sent()).hasSize(1);
    }

    @Test
    void failedUnreliableSendFlushesSendsButNotReceives() {
        UcPair pair = new UcPair();
        MemoryRegion ofA = pair.a.register(new byte[64], ACCESS);
        MemoryRegion ofB = pair.b.register(new byte[64], ACCESS);
        pair.b.postReceive(1, ofB, 64);
        pair.b.post(2, SendOpcode.RDMA_READ, ofB, 8, ofA);
        pair.b.post(3, SendOpcode.SEND, ofB, 8, ofA);
        assertThat(pair.b.sent()).isEmpty();
        assertThat(pair.b.queuePair.state()).isEqualTo(QueuePairState.SEND_QUEUE_ERROR);
        pair.b.post(4, SendOpcode.SEND, ofB, 8, ofA);
        pair.b.queuePair.flush();
        assertThat(pair.b.done)
                .extracting(Pair.Done::status)
                .containsExactly(
                        CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR,
                        CompletionStatus.WORK_REQUEST_FLUSHED_ERROR,
                        CompletionStatus.WORK_REQUEST_FLUSHED_ERROR);
        pair.a.post(5, SendOpcode.SEND, ofA, 8, ofB);
        pair.deliver(pair.a.sent());
        assertThat(pair.b.done.getLast().id()).isEqualTo(1);
        assertThat(pair.b.done.getLast().status()).isEqualTo(CompletionStatus.SUCCESS);
        pair.b.queuePair.resume();
        pair.b.post(6, SendOpcode.SEND, ofB, 8, ofA);
        assertThat(pair.b.sent()).hasSize(1);
    }
}
