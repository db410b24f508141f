package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Opcode;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Queue pairs that take their receives from a shared receive queue. */
class SharedReceiveQueueTest {
    private static final CompletionStatus FLUSHED = CompletionStatus.WORK_REQUEST_FLUSHED_ERROR;
    private static final int CAPACITY = 16;
    private static final int LONG_MESSAGE = 3000;

    private int limitReports;
    private final SharedReceiveQueue shared = new SharedReceiveQueue(CAPACITY, 2, Pair.PD, () -> limitReports++);
    private final Pair first = pair();
    private final Pair second = pair();

    private Pair pair() {
        Pair.Options options = new Pair.Options();
        options.sharedB = shared;
        return new Pair(options);
    }

    private void post(long id, MemoryRegion region) {
        ReceiveRequest r = Objects.requireNonNull(shared.claim());
        r.workRequestId = id;
        r.list.add(region, 0, region.lengthBytes());
        shared.publish();
    }

    /** Posts receives with IDs from 1, all into one region, for tests that do not check the data. */
    private void post(int count) {
        MemoryRegion region = first.b.register(LONG_MESSAGE);
        for (int id = 1; id <= count; id++) {
            post(id, region);
        }
    }

    private static void send(Pair pair, long id, int bytes) {
        pair.a.post(id, SendOpcode.SEND, pair.a.register(Pair.pattern(bytes, (int) id), 0), 0, bytes);
    }

    /** Sends a long message whose last packet is lost, and runs until the others have arrived. */
    private void sendAllButTheEnd(Pair pair) {
        pair.wire = w -> w.opcode() == Opcode.RC_SEND_LAST ? List.of() : List.of(Pair.LATENCY_NANOS);
        send(pair, 1, LONG_MESSAGE);
        pair.run(pair.now + 10 * Pair.LATENCY_NANOS);
        pair.wire = w -> List.of(Pair.LATENCY_NANOS);
    }

    @Test
    void messagesOfAllQueuePairsTakeReceivesInOrderOfArrival() {
        post(4);
        for (int i = 0; i < 2; i++) {
            send(first, i, 100);
            first.run();
            send(second, i, 100);
            second.run();
        }
        assertThat(first.b.ids(true)).containsExactly(1L, 3L);
        assertThat(second.b.ids(true)).containsExactly(2L, 4L);
        assertThat(shared.size()).isZero();
    }

    @Test
    void messageKeepsItsReceiveThroughAllItsPackets() {
        byte[] slow = new byte[LONG_MESSAGE];
        byte[] quick = new byte[LONG_MESSAGE];
        post(1, first.b.register(slow, AccessFlag.LOCAL_WRITE.bit()));
        post(2, second.b.register(quick, AccessFlag.LOCAL_WRITE.bit()));
        sendAllButTheEnd(first);
        assertThat(shared.size()).isEqualTo(1);
        send(second, 5, LONG_MESSAGE);
        second.run();
        assertThat(second.b.ids(true)).containsExactly(2L);
        assertThat(quick).isEqualTo(Pair.pattern(LONG_MESSAGE, 5));
        assertThat(first.b.done).isEmpty();
        first.run();
        assertThat(first.b.ids(true)).containsExactly(1L);
        assertThat(slow).isEqualTo(Pair.pattern(LONG_MESSAGE, 1));
    }

    @Test
    void emptyQueueMakesTheSenderWait() {
        send(first, 1, LONG_MESSAGE);
        first.run(first.now + 10 * Pair.LATENCY_NANOS);
        assertThat(first.b.queuePair.counters().sentRnrNaks).isEqualTo(1);
        post(1);
        first.run();
        assertThat(first.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS);
        assertThat(first.b.statuses(true)).containsExactly(CompletionStatus.SUCCESS);
    }

    @Test
    void retransmittedMessageTakesNoSecondReceive() {
        post(2);
        boolean[] lost = new boolean[1];
        first.wire = w -> {
            boolean isFirstAck = w.opcode() == Opcode.RC_ACKNOWLEDGE && !lost[0];
            lost[0] |= isFirstAck;
            return isFirstAck ? List.of() : List.of(Pair.LATENCY_NANOS);
        };
        send(first, 1, LONG_MESSAGE);
        first.run();
        assertThat(first.b.queuePair.counters().duplicateRequests).isPositive();
        assertThat(first.b.ids(true)).containsExactly(1L);
        assertThat(shared.size()).isEqualTo(1);
    }

    @Test
    void writeTakesAReceiveOnlyForItsImmediateData() {
        post(2);
        MemoryRegion from = first.a.register(LONG_MESSAGE);
        MemoryRegion to = first.b.register(LONG_MESSAGE);
        first.a.post(1, SendOpcode.RDMA_WRITE, from, LONG_MESSAGE, to, 0);
        first.run();
        assertThat(shared.size()).isEqualTo(2);
        first.a.post(2, SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, from, LONG_MESSAGE, to, 0);
        first.run();
        assertThat(first.b.ids(true)).containsExactly(1L);
        assertThat(shared.size()).isEqualTo(1);
    }

    @Test
    void failedQueuePairFlushesOnlyTheReceiveItHolds() {
        post(3);
        sendAllButTheEnd(first);
        first.b.queuePair.toError();
        first.b.queuePair.toError();
        assertThat(first.b.ids(true)).containsExactly(1L);
        assertThat(first.b.statuses(true)).containsExactly(FLUSHED);
        assertThat(first.b.events).containsExactly(QueuePairEvent.LAST_RECEIVE_REACHED);
        assertThat(shared.size()).isEqualTo(2);
        send(second, 1, LONG_MESSAGE);
        second.run();
        assertThat(second.b.ids(true)).containsExactly(2L);
        assertThat(second.b.events).isEmpty();
    }

    @Test
    void errorWithoutAHeldReceiveIsReportedToo() {
        post(1);
        first.b.queuePair.toError();
        assertThat(first.b.done).isEmpty();
        assertThat(first.b.events).containsExactly(QueuePairEvent.LAST_RECEIVE_REACHED);
        assertThat(shared.size()).isEqualTo(1);
    }

    @Test
    void resetDiscardsTheHeldReceiveWithoutACompletion() {
        post(2);
        sendAllButTheEnd(first);
        first.b.queuePair.reset();
        assertThat(first.b.done).isEmpty();
        assertThat(first.b.events).isEmpty();
        send(second, 1, LONG_MESSAGE);
        second.run();
        assertThat(second.b.ids(true)).containsExactly(2L);
    }

    @Test
    void tooLongMessageFailsOnlyItsReceive() {
        MemoryRegion small = first.b.register(100);
        post(1, small);
        post(2, small);
        send(first, 1, 101);
        first.run();
        assertThat(first.b.statuses(true)).containsExactly(CompletionStatus.LOCAL_LENGTH_ERROR);
        assertThat(first.b.events).containsExactly(QueuePairEvent.REQUEST_ERROR, QueuePairEvent.LAST_RECEIVE_REACHED);
        assertThat(first.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        send(second, 1, 100);
        second.run();
        assertThat(second.b.statuses(true)).containsExactly(CompletionStatus.SUCCESS);
    }

    @Test
    void invalidRequestInsideASendFailsOnlyItsReceive() {
        post(2);
        sendAllButTheEnd(first);
        first.deliver(Pair.forge(true, Opcode.RC_SEND_ONLY, 0x1002, true, 8));
        assertThat(first.b.ids(true)).containsExactly(1L);
        assertThat(first.b.statuses(true)).containsExactly(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        assertThat(shared.size()).isEqualTo(1);
    }

    @Test
    void receivesBelongToTheProtectionDomainOfTheirQueue() {
        SharedReceiveQueue foreign = new SharedReceiveQueue(1, 1, Pair.PD + 1, () -> {});
        Pair.Options options = new Pair.Options();
        options.sharedB = foreign;
        Pair pair = new Pair(options);
        byte[] target = new byte[8];
        MemoryRegion region = pair.b.memory.register(
                MemorySegment.ofArray(target), 0x1000, AccessFlag.LOCAL_WRITE.bit(), Pair.PD + 1);
        Objects.requireNonNull(foreign.claim()).list.add(region, 0, 8);
        foreign.publish();
        send(pair, 3, 8);
        pair.run();
        assertThat(pair.b.statuses(true)).containsExactly(CompletionStatus.SUCCESS);
        assertThat(target).isEqualTo(Pair.pattern(8, 3));
    }

    @Test
    void queuePairHasNoSeparateReceiveQueue() {
        assertThat(first.b.queuePair.receiveQueue().claim()).isNull();
    }

    @Test
    void receiveOfADroppedUnreliableMessageIsKeptForTheNext() {
        post(2);
        UcPair unreliable = new UcPair(shared);
        MemoryRegion from = unreliable.a.register(Pair.pattern(LONG_MESSAGE, 1), 0);
        unreliable.a.post(1, SendOpcode.SEND, from, LONG_MESSAGE, from);
        unreliable.deliver(unreliable.a.sent().subList(0, 1));
        send(first, 1, 8);
        first.run();
        assertThat(first.b.ids(true)).containsExactly(2L);
        unreliable.a.post(2, SendOpcode.SEND, from, 8, from);
        unreliable.deliver(unreliable.a.sent());
        assertThat(unreliable.b.done).extracting(Pair.Done::id).containsExactly(1L);
        assertThat(unreliable.b.done).extracting(Pair.Done::bytes).containsExactly(8L);
    }

    // ---- the queue ----

    @Test
    void takenReceiveFreesItsSlotBeforeItCompletes() {
        post(CAPACITY);
        assertThat(shared.claim()).isNull();
        sendAllButTheEnd(first);
        post(99, first.b.register(8));
        assertThat(shared.claim()).isNull();
        assertThat(shared.size()).isEqualTo(CAPACITY);
    }

    @Test
    void limitIsReportedOncePerArming() {
        post(10);
        shared.limit(7);
        List<Integer> reports = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            send(first, i, 8);
            first.run();
            reports.add(limitReports);
        }
        assertThat(reports).containsExactly(0, 0, 0, 1, 1);
        assertThat(shared.limit()).isZero();
        shared.limit(7);
        send(first, 9, 8);
        first.run();
        assertThat(limitReports).isEqualTo(2);
    }

    @Test
    void messageThatFindsTheQueueEmptyReportsTheLimitToo() {
        shared.limit(1);
        send(first, 1, 8);
        first.run(first.now + 10 * Pair.LATENCY_NANOS);
        assertThat(limitReports).isEqualTo(1);
    }

    @Test
    void limitZeroDisarms() {
        post(2);
        shared.limit(2);
        shared.limit(0);
        send(first, 1, 8);
        first.run();
        assertThat(limitReports).isZero();
    }

    @Test
    void resizingKeepsPostedReceives() {
        post(10);
        sendAllButTheEnd(first);
        assertThat(shared.resize(8)).isFalse();
        assertThat(shared.capacity()).isEqualTo(CAPACITY);
        assertThat(shared.resize(9)).isTrue();
        assertThat(shared.claim()).isNull();
        assertThat(shared.resize(100)).isTrue();
        post(11, first.b.register(LONG_MESSAGE));
        first.run();
        for (int i = 0; i < 10; i++) {
            send(second, i, 8);
            second.run();
        }
        assertThat(first.b.ids(true)).containsExactly(1L);
        assertThat(second.b.ids(true)).containsExactly(2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L);
    }

    @Test
    void wrappedRingKeepsItsOrderWhenResized() {
        post(12);
        for (int i = 0; i < 12; i++) {
            send(first, i, 8);
            first.run();
        }
        post(12);
        assertThat(shared.resize(12)).isTrue();
        for (int i = 0; i < 12; i++) {
            send(second, i, 8);
            second.run();
        }
        assertThat(second.b.ids(true)).containsExactlyElementsOf(first.b.ids(true));
    }
}
