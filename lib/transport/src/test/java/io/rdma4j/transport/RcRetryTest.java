package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Bth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Reth;
import io.rdma4j.wire.Timers;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Retransmission, retry limits and RNR back-off. */
class RcRetryTest {
    private static final long T14 = 4096L << 14;

    /** Returns a wire that loses the packets that match the predicate. */
    private static Pair.Wire losing(Predicate<Pair.WirePacket> lost) {
        return w -> lost.test(w) ? List.of() : List.of(Pair.LATENCY_NANOS);
    }

    /** Returns a wire that loses the packets with the given numbers, from 1, of A or B. */
    private static Pair.Wire losing(boolean fromA, int... numbers) {
        return losing(w -> w.fromA() == fromA && Arrays.stream(numbers).anyMatch(n -> n == w.number()));
    }

    private static Pair pair(Consumer<Pair.Options> change) {
        Pair.Options o = new Pair.Options();
        change.accept(o);
        return new Pair(o);
    }

    private static void write(Pair p, int bytes) {
        p.a.post(1, SendOpcode.RDMA_WRITE, p.a.register(bytes), bytes, p.b.register(bytes), 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void silentPeerIsGivenUpAfterRetryCountRetransmissionsOneTimeoutApart(int retries) {
        Pair p = pair(o -> o.retryCount = retries);
        p.wire = losing(w -> true);
        long begin = p.now;
        write(p, 10);
        p.run();
        assertThat(p.trace).hasSize(1 + retries);
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.RETRY_EXCEEDED_ERROR);
        assertThat(p.a.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(p.now - begin).isEqualTo((retries + 1) * T14);
        for (int i = 0; i <= retries; i++) {
            assertThat(p.trace.get(i).sentAt()).isEqualTo(begin + i * T14);
        }
        assertThat(p.a.queuePair.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(p.a.queuePair.counters().retryExceededErrors).isEqualTo(1);
    }

    @Test
    void timeoutExponentZeroWaitsIndefinitely() {
        Pair p = pair(o -> o.timeoutExponent = 0);
        p.wire = losing(w -> true);
        write(p, 10);
        p.run();
        assertThat(p.a.queuePair.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(p.a.done).isEmpty();
    }

    @Test
    void progressResetsTheRetryCounter() {
        Pair p = pair(o -> o.retryCount = 1);
        boolean[] seen = new boolean[1 << 16];
        p.wire = losing(
                w -> { // the first transmission of every request is lost
                    boolean first = w.fromA() && !seen[w.psn()];
                    seen[w.psn()] = true;
                    return first;
                });
        for (int i = 0; i < 50; i++) {
            write(p, 10);
            p.run();
        }
        assertThat(p.a.statuses(false)).hasSize(50).containsOnly(CompletionStatus.SUCCESS);
    }

    @Test
    void nakRetransmitsALostPacketAtOnceAndOncePerGap() {
        Pair p = new Pair();
        p.wire = losing(true, 3);
        long begin = p.now;
        write(p, 20 * 1024);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS);
        assertThat(p.now - begin).isLessThan(T14 / 100);
        assertThat(p.trace.stream()
                        .filter(w -> w.opcode() == Opcode.RC_ACKNOWLEDGE && w.syndrome() == Aeth.NAK_PSN_SEQUENCE_ERROR)
                        .map(Pair.WirePacket::psn))
                .containsExactly(0x1002);
        assertThat(p.a.queuePair.counters().retransmittedPackets).isEqualTo(18);
    }

    @Test
    void requestWithALostAcknowledgementIsAcknowledgedAgainButNotExecutedAgain() {
        Pair p = new Pair();
        MemoryRegion to = p.b.register(8);
        p.b.postReceive(1, to, 0, 8);
        p.b.postReceive(2, to, 0, 8);
        p.wire = losing(false, 1);
        p.a.post(1, SendOpcode.SEND, p.a.register(8), 0, 8);
        p.run();
        assertThat(p.traceLines())
                .containsExactly(
                        "A SEND_ONLY 4096", "B ACKNOWLEDGE 4096 1f", "A SEND_ONLY 4096", "B ACKNOWLEDGE 4096 1f");
        assertThat(p.b.ids(true)).containsExactly(1L);
        assertThat(p.b.queuePair.counters().duplicateRequests).isEqualTo(1);
    }

    @Test
    void lostReadResponseIsRequestedAgainAtOnceFromTheFirstMissingPacket() {
        Pair p = new Pair();
        byte[] content = Pair.pattern(5000, 3);
        MemoryRegion remote = p.b.register(content, Pair.ALL_ACCESS);
        MemoryRegion local = p.a.register(5000);
        p.wire = losing(false, 3);
        long begin = p.now;
        p.a.post(1, SendOpcode.RDMA_READ, local, 5000, remote, 0);
        p.run();
        assertThat(p.now - begin).isLessThan(T14 / 100);
        assertThat(p.traceLines())
                .containsExactly(
                        "A READ_REQUEST 4096",
                        "B READ_RESPONSE_FIRST 4096",
                        "B READ_RESPONSE_MIDDLE 4097",
                        "B READ_RESPONSE_MIDDLE 4098",
                        "B READ_RESPONSE_MIDDLE 4099",
                        "B READ_RESPONSE_LAST 4100",
                        "A READ_REQUEST 4098",
                        "B READ_RESPONSE_FIRST 4098",
                        "B READ_RESPONSE_MIDDLE 4099",
                        "B READ_RESPONSE_LAST 4100");
        Pair.WirePacket again = p.trace.get(6);
        assertThat(Reth.address(again.segment(), Bth.LENGTH)).isEqualTo(remote.address() + 2048);
        assertThat(Reth.dmaLength(again.segment(), Bth.LENGTH)).isEqualTo(5000 - 2048);
        assertThat(local.memory().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content);
        assertThat(p.a.queuePair.counters().impliedNaks).isEqualTo(2); // one for each response after the gap
    }

    @Test
    void acknowledgementPastAnUnansweredReadIsAnImpliedNak() {
        Pair p = new Pair();
        p.wire = losing(false, 1); // the only response to the READ
        long begin = p.now;
        MemoryRegion local = p.a.register(100);
        MemoryRegion remote = p.b.register(100);
        p.a.post(1, SendOpcode.RDMA_READ, local, 100, remote, 0);
        p.a.post(2, SendOpcode.RDMA_WRITE, local, 50, remote, 0);
        p.run();
        assertThat(p.now - begin).isLessThan(T14 / 100);
        assertThat(p.a.ids(false)).containsExactly(1L, 2L);
        assertThat(p.a.statuses(false)).containsOnly(CompletionStatus.SUCCESS);
    }

    @Test
    void duplicateAtomicReturnsTheStoredResultAndIsNotExecuted() {
        Pair p = new Pair();
        p.wire = losing(false, 1, 2, 3);
        MemoryRegion local = p.a.register(8);
        MemoryRegion remote = p.b.register(8);
        SendRequest r = p.a.claim(1, SendOpcode.FETCH_AND_ADD);
        r.list.add(local, 0, 8);
        r.remoteKey = remote.key();
        r.remoteAddress = remote.address();
        r.swapOrAdd = 5;
        p.a.publish(r);
        p.run();
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isEqualTo(5);
        assertThat(local.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isZero();
        assertThat(p.sent(true, Opcode.RC_FETCH_ADD)).isEqualTo(4);
    }

    @Test
    void acknowledgementsOfNoOutstandingPsnCompleteNothing() {
        Pair p = new Pair();
        write(p, 10);
        p.pump();
        for (int distance : new int[] {-1, 1, 2, 100, 1 << 22, -(1 << 22), 1 << 23}) {
            Pair.WirePacket ack = Pair.forge(false, Opcode.RC_ACKNOWLEDGE, 0x1000 + distance, false, 0);
            Aeth.write(ack.segment(), Bth.LENGTH, Aeth.ACK, 1);
            p.deliver(ack);
        }
        assertThat(p.a.done).isEmpty();
        assertThat(p.a.queuePair.counters().unexpectedResponses).isEqualTo(7);
    }

    @ParameterizedTest
    @ValueSource(strings = {"RC_READ_RESPONSE_FIRST", "RC_READ_RESPONSE_MIDDLE"})
    void duplicateReadMayBeAnsweredFromFirstOrMiddleToLastOrOnly(String first) {
        for (Opcode last : List.of(Opcode.RC_READ_RESPONSE_LAST, Opcode.RC_READ_RESPONSE_ONLY)) {
            Pair p = new Pair();
            MemoryRegion local = p.a.register(2000);
            p.a.post(1, SendOpcode.RDMA_READ, local, 2000, p.b.register(2000), 0);
            p.pump(p.a);
            Opcode opcode = Opcode.valueOf(first);
            p.deliver(response(opcode, 0x1000, 1024));
            p.deliver(response(last, 0x1001, 976));
            assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS);
        }
    }

    private static Pair.WirePacket response(Opcode opcode, int psn, int payload) {
        Pair.WirePacket w = Pair.forge(false, opcode, psn, false, payload);
        if (opcode.hasAeth()) {
            Aeth.write(w.segment(), Bth.LENGTH, Aeth.ACK, 1);
        }
        return w;
    }

    @Test
    void responseThatDoesNotFitTheRequestIsABadResponse() {
        record Case(SendOpcode request, Opcode response, int payload) {}
        for (Case c : List.of(
                new Case(SendOpcode.RDMA_READ, Opcode.RC_READ_RESPONSE_ONLY, 1024), // ends too early
                new Case(SendOpcode.RDMA_READ, Opcode.RC_READ_RESPONSE_FIRST, 1020), // too short
                new Case(SendOpcode.RDMA_READ, Opcode.RC_READ_RESPONSE_FIRST, 1028), // too long
                new Case(SendOpcode.RDMA_READ, Opcode.RC_ATOMIC_ACKNOWLEDGE, 0),
                new Case(SendOpcode.RDMA_WRITE, Opcode.RC_READ_RESPONSE_ONLY, 0),
                new Case(SendOpcode.RDMA_WRITE, Opcode.RC_ATOMIC_ACKNOWLEDGE, 0))) {
            Pair p = new Pair();
            p.a.post(1, c.request(), p.a.register(2000), 2000, p.b.register(2000), 0);
            p.pump(p.a);
            p.deliver(response(c.response(), 0x1000, c.payload()));
            assertThat(p.a.statuses(false)).as(c.toString()).containsExactly(CompletionStatus.BAD_RESPONSE_ERROR);
            assertThat(p.a.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        }
    }

    @Test
    void responseWithMissingPaddingIsABadResponse() {
        Opcode opcode = Opcode.RC_READ_RESPONSE_ONLY;
        int length = 6; // needs two bytes of padding
        Pair p = new Pair();
        p.a.post(1, SendOpcode.RDMA_READ, p.a.register(length), length, p.b.register(length), 0);
        p.pump(p.a);
        byte[] padded = response(opcode, 0x1000, length + 2).bytes();
        byte[] bytes = Arrays.copyOf(padded, padded.length - 2);
        p.deliver(new Pair.WirePacket(false, 0, opcode, 0x1000, false, bytes, 0));
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.BAD_RESPONSE_ERROR);
    }

    @Test
    void reservedAcknowledgeCodesAreIgnored() {
        Pair p = new Pair();
        write(p, 10);
        p.pump(p.a);
        for (int syndrome = 0x40; syndrome < 0x60; syndrome++) {
            Pair.WirePacket w = Pair.forge(false, Opcode.RC_ACKNOWLEDGE, 0x1000, false, 0);
            Aeth.write(w.segment(), Bth.LENGTH, syndrome, 0);
            p.deliver(w);
        }
        assertThat(p.a.done).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0x60, 0x61, 0x62, 0x63, 0x64, 0x7f})
    void nakFailsTheNamedWorkRequestAndFlushesTheRestInOrder(int syndrome) {
        Pair p = pair(o -> o.retryCount = 0);
        MemoryRegion local = p.a.register(100);
        MemoryRegion remote = p.b.register(100);
        p.a.postReceive(100, local, 0, 10);
        p.a.postReceive(101, local, 0, 10);
        for (int i = 0; i < 5; i++) {
            SendRequest r = p.a.claim(i, SendOpcode.RDMA_WRITE);
            r.signaled = i != 3; // errors are reported for unsignaled requests too
            r.list.add(local, 0, 10);
            r.remoteKey = remote.key();
            r.remoteAddress = remote.address();
            p.a.publish(r);
        }
        p.pump(p.a);
        Pair.WirePacket nak = Pair.forge(false, Opcode.RC_ACKNOWLEDGE, 0x1002, false, 0);
        Aeth.write(nak.segment(), Bth.LENGTH, syndrome, 2);
        p.deliver(nak);
        CompletionStatus expected = switch (syndrome) {
            case 0x60 -> CompletionStatus.RETRY_EXCEEDED_ERROR; // no retry is allowed here
            case 0x61 -> CompletionStatus.REMOTE_INVALID_REQUEST_ERROR;
            case 0x62 -> CompletionStatus.REMOTE_ACCESS_ERROR;
            default -> CompletionStatus.REMOTE_OPERATION_ERROR;
        };
        CompletionStatus flushed = CompletionStatus.WORK_REQUEST_FLUSHED_ERROR;
        assertThat(p.a.ids(false)).containsExactly(0L, 1L, 2L, 3L, 4L);
        assertThat(p.a.statuses(false))
                .containsExactly(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS, expected, flushed, flushed);
        assertThat(p.a.ids(true)).containsExactly(100L, 101L);
        assertThat(p.a.statuses(true)).containsExactly(flushed, flushed);
        p.a.post(5, SendOpcode.RDMA_WRITE, local, 10, remote, 0);
        p.a.queuePair.flush();
        assertThat(p.a.done.getLast().status()).isEqualTo(flushed);
        assertThat(p.a.done.getLast().id()).isEqualTo(5);
    }

    // ---- receiver not ready ----

    @Test
    void everyRnrTimerCodeDelaysExactly() {
        for (int code = 0; code < 32; code++) {
            int chosen = code;
            Pair p = pair(o -> {
                o.rnrCode = chosen;
                o.timeoutExponent = 20;
            });
            MemoryRegion to = p.b.register(8);
            p.a.post(1, SendOpcode.SEND, p.a.register(8), 0, 8);
            p.run(p.now + 3 * Pair.LATENCY_NANOS);
            p.b.postReceive(1, to, 0, 8);
            p.run();
            assertThat(p.traceLines())
                    .containsExactly(
                            "A SEND_ONLY 4096",
                            "B ACKNOWLEDGE 4096 " + Integer.toHexString(Aeth.RNR_NAK | code),
                            "A SEND_ONLY 4096",
                            "B ACKNOWLEDGE 4096 1f");
            long waited = p.trace.get(2).sentAt() - p.trace.get(1).sentAt() - Pair.LATENCY_NANOS;
            assertThat(waited).isEqualTo(Timers.rnrNakDelayNanos(code));
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6})
    void receiverThatIsNeverReadyIsGivenUpAfterRnrRetryRetransmissions(int retries) {
        Pair p = pair(o -> {
            o.rnrRetry = retries;
            o.retryCount = 0;
        });
        p.a.post(1, SendOpcode.SEND, p.a.register(8), 0, 8);
        p.run();
        assertThat(p.sent(true, Opcode.RC_SEND_ONLY)).isEqualTo(1 + retries);
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.RNR_RETRY_EXCEEDED_ERROR);
        assertThat(p.b.done).isEmpty();
        assertThat(p.b.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void rnrRetrySevenNeverGivesUp() {
        Pair p = pair(o -> o.rnrRetry = 7);
        p.a.post(1, SendOpcode.SEND, p.a.register(8), 0, 8);
        p.run(p.now + 60_000_000_000L);
        assertThat(p.a.done).isEmpty();
        p.b.postReceive(1, p.b.register(8), 0, 8);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS);
    }

    @Test
    void receiverThatIsNotReadyIsRetriedWithASinglePacket() {
        Pair p = pair(o -> o.rnrRetry = 7);
        MemoryRegion local = p.a.register(8);
        for (int i = 0; i < 10; i++) {
            p.a.post(i, SendOpcode.SEND, local, 0, 8);
        }
        p.run(p.now + 100_000_000);
        long naks = p.a.queuePair.counters().receivedRnrNaks;
        assertThat(naks).isGreaterThan(2);
        assertThat(p.sent(true, Opcode.RC_SEND_ONLY)).isEqualTo(10 + naks - 1);
        MemoryRegion to = p.b.register(8);
        for (int i = 0; i < 10; i++) {
            p.b.postReceive(i, to, 0, 8);
        }
        p.run();
        assertThat(p.a.statuses(false)).hasSize(10).containsOnly(CompletionStatus.SUCCESS);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 12, 18, 0})
    void rnrBackOffGrowsByAtMostFourMilliseconds(int code) {
        Pair p = pair(o -> {
            o.rnrCode = code;
            o.rnrRetry = 7;
        });
        p.a.post(1, SendOpcode.SEND, p.a.register(8), 0, 8);
        p.run(p.now + 20_000_000_000L);
        List<Long> waits = new ArrayList<>();
        for (int i = 2; i < p.trace.size(); i += 2) {
            waits.add(p.trace.get(i).sentAt() - p.trace.get(i - 1).sentAt() - Pair.LATENCY_NANOS);
        }
        long shortest = Timers.rnrNakDelayNanos(code);
        assertThat(waits.getFirst()).isEqualTo(shortest);
        assertThat(waits).isSorted();
        assertThat(waits.getLast()).isEqualTo(shortest + 4_000_000);
    }

    @Test
    void rnrNakAcknowledgesEverythingBeforeIt() {
        Pair p = pair(o -> o.rnrRetry = 0);
        MemoryRegion local = p.a.register(8);
        p.a.post(1, SendOpcode.RDMA_WRITE, local, 8, p.b.register(8), 0);
        p.a.post(2, SendOpcode.SEND, local, 0, 8);
        p.run();
        assertThat(p.a.statuses(false))
                .containsExactly(CompletionStatus.SUCCESS, CompletionStatus.RNR_RETRY_EXCEEDED_ERROR);
    }

    @Test
    void writeWithImmediateIsRetransmittedAfterAnRnrNak() {
        Pair p = new Pair();
        byte[] content = Pair.pattern(3000, 5);
        MemoryRegion remote = p.b.register(3000);
        p.a.post(1, SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, p.a.register(content, 0), 3000, remote, 0);
        p.run(p.now + 5 * Pair.LATENCY_NANOS);
        assertThat(p.b.done).isEmpty();
        p.b.postReceive(1, remote, 0, 0);
        p.run();
        assertThat(remote.memory().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content);
        assertThat(p.b.statuses(true)).containsExactly(CompletionStatus.SUCCESS);
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS);
    }

    // ---- wrap-around ----

    @ParameterizedTest
    @ValueSource(ints = {0xff_ffff, 0xff_fffe, 0xff_ffc0, 0x7f_ffff, 0x80_0000, 0})
    void psnsWrapAround(int psn) {
        Pair p = pair(o -> {
            o.psnA = psn;
            o.psnB = psn;
            o.mtu = 256;
        });
        Set<Integer> lost = new HashSet<>(Set.of(2, 5, 100, 140, 200, 300));
        p.wire = losing(w -> w.fromA() && lost.remove(w.number()));
        byte[] content = Pair.pattern(100_000, 5);
        MemoryRegion remote = p.b.register(100_000);
        MemoryRegion back = p.a.register(100_000);
        p.a.post(1, SendOpcode.RDMA_WRITE, p.a.register(content, 0), 100_000, remote, 0);
        p.a.post(2, SendOpcode.RDMA_READ, back, 100_000, remote, 0);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS);
        assertThat(back.memory().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(content);
    }

    @Test
    void driverThatReceivesBeforeItsTimersRetransmitsNothingAfterAPause() {
        Pair p = new Pair();
        List<Pair.WirePacket> held = new ArrayList<>();
        p.wire = w -> {
            held.add(w);
            return Collections.emptyList();
        };
        write(p, 10);
        p.pump();
        p.deliver(held.removeFirst());
        p.pump();
        p.now += 100 * T14; // meanwhile the acknowledgement is pending in the socket
        p.deliver(held.removeFirst());
        assertThat(p.a.queuePair.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS);
    }
}
