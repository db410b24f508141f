package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Reth;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Queue pairs in the error state, and their reset. */
class RcErrorTest {
    private static final CompletionStatus FLUSHED = CompletionStatus.WORK_REQUEST_FLUSHED_ERROR;

    @Test
    void everyWorkRequestIsFlushedOnceInOrderSignaledOrNot() {
        Pair.Options o = new Pair.Options();
        o.requests = 10_000;
        Pair p = new Pair(o);
        MemoryRegion m = p.a.register(8);
        for (int i = 0; i < 10_000; i++) {
            SendRequest r = p.a.claim(i, SendOpcode.SEND);
            r.signaled = i % 2 == 0;
            r.list.add(m, 0, 8);
            p.a.publish(r);
            p.a.postReceive(i, m, 0, 8);
        }
        p.pump(p.a);
        p.a.queuePair.toError();
        List<Long> ids = LongStream.range(0, 10_000).boxed().toList();
        assertThat(p.a.ids(false)).isEqualTo(ids);
        assertThat(p.a.ids(true)).isEqualTo(ids);
        assertThat(p.a.done).allMatch(d -> d.status() == FLUSHED && d.solicited());
        p.a.queuePair.toError();
        assertThat(p.a.done).hasSize(20_000);
    }

    @Test
    void partlyFilledReceiveIsFlushedOnce() {
        Pair p = new Pair();
        MemoryRegion to = p.b.register(3000);
        p.b.postReceive(1, to, 0, 3000);
        p.wire = w -> w.opcode() == Opcode.RC_SEND_LAST ? List.of() : List.of(Pair.LATENCY_NANOS);
        p.a.post(1, SendOpcode.SEND, p.a.register(3000), 0, 3000);
        p.run(p.now + 10 * Pair.LATENCY_NANOS);
        p.b.queuePair.toError();
        assertThat(p.b.statuses(true)).containsExactly(FLUSHED);
    }

    @Test
    void invalidRequestInsideASendFailsTheReceiveInUse() {
        Pair p = new Pair();
        p.b.postReceive(1, p.b.register(3000), 0, 3000);
        p.b.postReceive(2, p.b.register(3000), 0, 3000);
        p.deliver(Pair.forge(true, Opcode.RC_SEND_FIRST, 0x1000, true, 1024));
        p.deliver(Pair.forge(true, Opcode.RC_SEND_ONLY, 0x1001, true, 8));
        assertThat(p.b.statuses(true)).containsExactly(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR, FLUSHED);
    }

    @Test
    void completionSinkMayMoveTheQueuePairToError() {
        Pair p = new Pair();
        MemoryTable memory = new MemoryTable(() -> 9);
        MemoryRegion m = memory.register(MemorySegment.ofArray(new byte[8]), 0, 15, Pair.PD);
        List<CompletionStatus> ends = new ArrayList<>();
        RcQueuePair[] self = new RcQueuePair[1];
        CompletionSink overrun = c -> {
            ends.add(c.status);
            self[0].toError();
        };
        RcQueuePair q = new RcQueuePair(0x11, p.a.queuePair.configuration(), memory, overrun, overrun, e -> {});
        self[0] = q;
        q.toInit(15);
        q.toReadyToReceive(Objects.requireNonNull(p.a.queuePair.receiveParameters()));
        q.toReadyToSend(Objects.requireNonNull(p.a.queuePair.sendParameters()));
        for (int i = 0; i < 4; i++) {
            SendRequest r = Objects.requireNonNull(q.sendQueue().claim());
            r.signaled = true;
            r.list.add(m, 0, 8);
            r.lengthBytes = 8;
            q.sendQueue().publish();
        }
        MemorySegment out = MemorySegment.ofArray(new byte[2048]);
        while (q.pollTransmit(0, out, 0) > 0) {}
        Pair.WirePacket ack = Pair.forge(false, Opcode.RC_ACKNOWLEDGE, 0x1003, false, 0);
        Aeth.write(ack.segment(), Bth.LENGTH, Aeth.ACK, 4);
        p.deliver(ack, q);
        assertThat(ends).containsExactly(CompletionStatus.SUCCESS, FLUSHED, FLUSHED, FLUSHED);
        assertThat(q.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(q.pollTransmit(0, out, 0)).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void messageWhoseCompletionIsLostIsRejected(boolean isWrite) {
        Pair p = new Pair();
        MemoryRegion to = p.b.register(8);
        p.b.postReceive(1, to, 0, 8);
        p.b.postReceive(2, to, 0, 8);
        p.b.onReceive = c -> {
            if (c.workRequestId == 2) {
                p.b.queuePair.toError(); // as a full completion queue does
            }
        };
        for (int i = 0; i < 2; i++) {
            if (isWrite) {
                p.a.post(i, SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, p.a.register(8), 8, to, 0);
            } else {
                p.a.post(i, SendOpcode.SEND, p.a.register(8), 0, 8);
            }
        }
        p.run();
        assertThat(p.a.statuses(false))
                .containsExactly(CompletionStatus.SUCCESS, CompletionStatus.REMOTE_OPERATION_ERROR);
    }

    /** Returns a pair whose B received four READs, and failed because of an invalid request before it answered any. */
    private static Pair failedBehindReads(int packetsOfEach) {
        Pair p = new Pair();
        int bytes = packetsOfEach * p.options.mtu;
        MemoryRegion from = p.b.register(bytes);
        for (int i = 0; i < 4; i++) {
            p.a.post(i, SendOpcode.RDMA_READ, p.a.register(bytes), bytes, from, 0);
        }
        p.pump(p.a);
        p.trace.forEach(p::deliver);
        p.dropAllInFlight();
        p.deliver(Pair.forge(true, Opcode.RC_SEND_MIDDLE, p.b.queuePair.receivePsn(), true, p.options.mtu));
        assertThat(p.b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(p.b.events).containsExactly(QueuePairEvent.REQUEST_ERROR);
        p.trace.clear();
        return p;
    }

    private static long readResponses(Pair p) {
        return p.trace.stream()
                .filter(w -> !w.fromA() && w.opcode() != Opcode.RC_ACKNOWLEDGE)
                .count();
    }

    @Test
    void abandonedFailedQueuePairSendsNoReadResponses() {
        Pair p = failedBehindReads(8);
        p.b.queuePair.abandon();
        p.pump(p.b);
        assertThat(readResponses(p)).isZero();
    }

    @Test
    void explicitErrorStateAfterAFailureStopsReadResponses() {
        Pair p = failedBehindReads(8);
        p.b.queuePair.toError();
        p.pump(p.b);
        assertThat(readResponses(p)).isZero();
    }

    @Test
    void shortReadsAreAnsweredBeforeTheNakThatEndsTheConnection() {
        Pair p = failedBehindReads(8);
        p.run();
        assertThat(readResponses(p)).isEqualTo(32);
        assertThat(p.a.statuses(false)).containsOnly(CompletionStatus.SUCCESS).hasSize(4);
        assertThat(p.traceLines().getLast()).isEqualTo("B ACKNOWLEDGE 4128 61");
    }

    @Test
    void failedQueuePairSendsALimitedAmountOfReadData() {
        Pair p = new Pair();
        MemoryRegion from = p.b.register(1 << 20);
        int psn = p.b.queuePair.receivePsn();
        for (int packets : new int[] {100, 1000, 1}) { // each in one request, as peers other than rdma4j send them
            Pair.WirePacket read = Pair.forge(true, Opcode.RC_READ_REQUEST, psn, false, 0);
            Reth.write(read.segment(), Bth.LENGTH, from.address(), from.key(), packets * p.options.mtu);
            p.deliver(read);
            psn += packets;
        }
        p.deliver(Pair.forge(true, Opcode.RC_SEND_MIDDLE, psn, true, p.options.mtu));
        assertThat(p.b.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        p.pump(p.b);
        assertThat(readResponses(p)).isEqualTo(100);
        // The NAK names the first READ that is not answered.
        assertThat(p.traceLines().getLast()).isEqualTo("B ACKNOWLEDGE " + (0x1000 + 100) + " 63");
    }

    @Test
    void queuePairWorksAgainAfterReset() {
        Pair p = new Pair();
        MemoryRegion to = p.b.register(8);
        p.a.post(1, SendOpcode.RDMA_READ, p.a.register(8), 8, to, 0);
        p.pump(p.a);
        for (Pair.Side side : List.of(p.a, p.b)) {
            RcQueuePair q = side.queuePair;
            RcQueuePair.ReceiveParameters receive = Objects.requireNonNull(q.receiveParameters());
            RcQueuePair.SendParameters send = Objects.requireNonNull(q.sendParameters());
            q.toError();
            q.reset();
            q.toInit(Pair.ALL_ACCESS);
            q.toReadyToReceive(receive);
            q.toReadyToSend(send);
        }
        p.a.done.clear();
        p.dropAllInFlight();
        p.a.post(2, SendOpcode.RDMA_WRITE, p.a.register(new byte[] {1, 2, 3}, 0), 3, to, 0);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS);
        assertThat(to.memory().get(ValueLayout.JAVA_BYTE, 2)).isEqualTo((byte) 3);
    }
}
