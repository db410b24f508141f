package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Opcode;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** All operations over a wire without loss. */
class RcOperationsTest {
    private static byte[] bytes(MemoryRegion region) {
        return region.memory().toArray(ValueLayout.JAVA_BYTE);
    }

    private static Pair pair(int mtu) {
        Pair.Options o = new Pair.Options();
        o.mtu = mtu;
        return new Pair(o);
    }

    private static final int[] SIZES = {0, 1, 3, 4, 255, 256, 257, 1023, 1024, 1025, 4096, 65_535, 300_000};

    @ParameterizedTest
    @ValueSource(ints = {256, 512, 1024, 2048, 4096})
    void sendCopiesTheMessageIntoTheReceive(int mtu) {
        for (int size : SIZES) {
            Pair p = pair(mtu);
            byte[] message = Pair.pattern(size, size);
            MemoryRegion from = p.a.register(message, 0);
            MemoryRegion to = p.b.register(size + 16);
            p.b.postReceive(9, to, 8, size);
            p.a.post(1, SendOpcode.SEND, from, 0, size);
            p.run();
            byte[] expected = new byte[size + 16];
            System.arraycopy(message, 0, expected, 8, size);
            assertThat(bytes(to)).as("size %s", size).isEqualTo(expected);
            assertThat(p.a.done)
                    .containsExactly(new Pair.Done(
                            1, CompletionStatus.SUCCESS, false, SendOpcode.SEND, false, size, false, 0, false));
            assertThat(p.b.done).hasSize(1);
            assertThat(p.b.done.getFirst().bytes()).isEqualTo(size);
            assertThat(p.a.queuePair.nextDeadlineNanos()).isEqualTo(Long.MAX_VALUE);
            assertThat(p.a.queuePair.counters().retransmittedPackets).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {256, 512, 1024, 2048, 4096})
    void writeAndReadMoveEveryByteAndNoOther(int mtu) {
        for (int size : SIZES) {
            Pair p = pair(mtu);
            byte[] message = Pair.pattern(size, size);
            MemoryRegion from = p.a.register(message, 0);
            MemoryRegion remote = p.b.register(size + 64);
            MemoryRegion back = p.a.register(size + 64);
            p.a.post(1, SendOpcode.RDMA_WRITE, from, size, remote, 32);
            p.a.post(2, SendOpcode.RDMA_READ, back, size, remote, 32);
            p.run();
            byte[] expected = new byte[size + 64];
            System.arraycopy(message, 0, expected, 32, size);
            assertThat(bytes(remote)).as("written %s", size).isEqualTo(expected);
            assertThat(Arrays.copyOf(bytes(back), size)).as("read %s", size).isEqualTo(message);
            assertThat(Arrays.copyOfRange(bytes(back), size, size + 64)).isEqualTo(new byte[64]);
            assertThat(p.a.ids(false)).containsExactly(1L, 2L);
            assertThat(p.a.statuses(false)).containsOnly(CompletionStatus.SUCCESS);
            assertThat(p.b.done).isEmpty();
            assertThat(p.a.queuePair.counters().retransmittedPackets).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 10, 1024, 5000})
    void writeWithImmediateTakesAReceiveAndReportsTheWrittenLength(int size) {
        Pair p = new Pair();
        MemoryRegion from = p.a.register(size);
        MemoryRegion remote = p.b.register(size);
        p.b.postReceive(5, remote, 0, 0);
        p.a.post(0x0102_0304, SendOpcode.RDMA_WRITE_WITH_IMMEDIATE, from, size, remote, 0);
        p.run();
        assertThat(p.b.done)
                .containsExactly(new Pair.Done(
                        5,
                        CompletionStatus.SUCCESS,
                        true,
                        p.b.done.getFirst().opcode(),
                        true,
                        size,
                        true,
                        0x0102_0304,
                        false));
    }

    @Test
    void sendWithImmediateCarriesTheFourBytesAndTheSolicitedBit() {
        Pair p = new Pair();
        MemoryRegion m = p.a.register(3000);
        MemoryRegion to = p.b.register(3000);
        p.b.postReceive(5, to, 0, 3000);
        SendRequest r = p.a.claim(1, SendOpcode.SEND_WITH_IMMEDIATE);
        r.list.add(m, 0, 3000);
        r.immediate = 0xcafe_babe;
        r.solicited = true;
        p.a.publish(r);
        p.run();
        Pair.Done d = p.b.done.getFirst();
        assertThat(d.hasImmediate()).isTrue();
        assertThat(d.immediate()).isEqualTo(0xcafe_babe);
        assertThat(d.solicited()).isTrue();
        // only the last packet of a message carries the solicited bit
        assertThat(p.trace.stream()
                        .filter(Pair.WirePacket::fromA)
                        .map(w -> (w.bytes()[1] & 0x80) != 0)
                        .toList())
                .containsExactly(false, false, true);
    }

    @Test
    void atomicsReturnTheOldValueAndChangeMemoryInHostOrder() {
        Pair p = new Pair();
        MemoryRegion local = p.a.register(8);
        MemoryRegion remote = p.b.register(16);
        remote.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, 8, 40);
        SendRequest add = p.a.claim(1, SendOpcode.FETCH_AND_ADD);
        add.list.add(local, 0, 8);
        add.remoteKey = remote.key();
        add.remoteAddress = remote.address() + 8;
        add.swapOrAdd = 2;
        p.a.publish(add);
        p.run();
        assertThat(local.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isEqualTo(40);
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, 8)).isEqualTo(42);
        swap(p, local, remote, 41, 99);
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, 8)).isEqualTo(42);
        swap(p, local, remote, 42, 99);
        assertThat(local.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, 0)).isEqualTo(42);
        assertThat(remote.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, 8)).isEqualTo(99);
        assertThat(p.a.done.stream().map(Pair.Done::bytes)).containsOnly(8L);
    }

    private static void swap(Pair p, MemoryRegion local, MemoryRegion remote, long compare, long value) {
        SendRequest r = p.a.claim(2, SendOpcode.COMPARE_AND_SWAP);
        r.list.add(local, 0, 8);
        r.remoteKey = remote.key();
        r.remoteAddress = remote.address() + 8;
        r.compare = compare;
        r.swapOrAdd = value;
        p.a.publish(r);
        p.run();
    }

    @Test
    void inlineMessageIsSentFromTheWorkRequest() {
        Pair p = new Pair();
        MemoryRegion to = p.b.register(100);
        p.b.postReceive(5, to, 0, 100);
        SendRequest r = p.a.claim(1, SendOpcode.SEND);
        r.inline = true;
        r.inlineData.copyFrom(MemorySegment.ofArray(new byte[] {1, 2, 3}));
        r.lengthBytes = 3;
        p.a.publish(r);
        p.run();
        assertThat(Arrays.copyOf(bytes(to), 4)).containsExactly(1, 2, 3, 0);
    }

    @Test
    void scatterAndGatherListsAreOneMessage() {
        Pair p = pair(256);
        byte[] message = Pair.pattern(2000, 1);
        MemoryRegion from = p.a.register(message, 0);
        MemoryRegion to = p.b.register(2000);
        ReceiveRequest receive =
                Objects.requireNonNull(p.b.queuePair.receiveQueue().claim());
        receive.list.add(to, 1000, 1000);
        receive.list.add(to, 0, 0);
        receive.list.add(to, 0, 1000);
        p.b.queuePair.receiveQueue().publish();
        SendRequest r = p.a.claim(1, SendOpcode.SEND);
        r.list.add(from, 0, 1);
        r.list.add(from, 1, 698);
        r.list.add(from, 699, 1301);
        p.a.publish(r);
        p.run();
        assertThat(Arrays.copyOfRange(bytes(to), 1000, 2000)).isEqualTo(Arrays.copyOf(message, 1000));
        assertThat(Arrays.copyOf(bytes(to), 1000)).isEqualTo(Arrays.copyOfRange(message, 1000, 2000));
    }

    @Test
    void unsignaledSuccessFreesItsSlotWithoutACompletion() {
        Pair p = new Pair();
        MemoryRegion from = p.a.register(10);
        MemoryRegion to = p.b.register(10);
        for (int round = 0; round < 1000; round++) {
            SendRequest r = p.a.claim(round, SendOpcode.RDMA_WRITE);
            r.signaled = false;
            r.list.add(from, 0, 10);
            r.remoteKey = to.key();
            r.remoteAddress = to.address();
            p.a.publish(r);
            p.run();
        }
        assertThat(p.a.done).isEmpty();
        assertThat(p.a.queuePair.sendQueue().isEmpty()).isTrue();
    }

    @Test
    void fencedRequestWaitsForEarlierReads() {
        Pair p = new Pair();
        MemoryRegion local = p.a.register(5000);
        MemoryRegion remote = p.b.register(5000);
        p.a.post(1, SendOpcode.RDMA_READ, local, 5000, remote, 0);
        SendRequest fenced = p.a.claim(2, SendOpcode.RDMA_WRITE);
        fenced.fence = true;
        fenced.list.add(local, 0, 100);
        fenced.remoteKey = remote.key();
        fenced.remoteAddress = remote.address();
        p.a.publish(fenced);
        p.run();
        List<String> lines = p.traceLines();
        assertThat(lines.indexOf("A WRITE_ONLY 4101")).isGreaterThan(lines.indexOf("B READ_RESPONSE_LAST 4100"));
        assertThat(p.a.ids(false)).containsExactly(1L, 2L);
    }

    @Test
    void readsInFlightStayWithinTheNegotiatedDepth() {
        Pair.Options o = new Pair.Options();
        o.depth = 2;
        o.destinationDepth = 2;
        Pair p = new Pair(o);
        MemoryRegion local = p.a.register(100);
        MemoryRegion remote = p.b.register(100);
        for (int i = 0; i < 10; i++) {
            p.a.post(i, SendOpcode.RDMA_READ, local, 10, remote, 0);
        }
        int inFlight = 0;
        p.run();
        for (Pair.WirePacket w : p.trace) {
            inFlight += w.fromA() ? 1 : -1;
            assertThat(inFlight).isBetween(0, 2);
        }
        assertThat(p.a.done).hasSize(10);
    }

    @Test
    void acknowledgementsOfOneBatchAreCoalesced() {
        Pair p = new Pair();
        MemoryRegion from = p.a.register(10);
        MemoryRegion to = p.b.register(10);
        for (int i = 0; i < 20; i++) {
            p.a.post(i, SendOpcode.RDMA_WRITE, from, 10, to, 0);
        }
        p.run();
        assertThat(p.sent(false, Opcode.RC_ACKNOWLEDGE)).isEqualTo(1);
        assertThat(p.a.done).hasSize(20);
    }

    @Test
    void requesterNeverHasMoreInFlightThanItsWindow() {
        for (int mtu : new int[] {256, 1024, 4096}) {
            Pair p = pair(mtu);
            MemoryRegion from = p.a.register(4 << 20);
            MemoryRegion to = p.b.register(4 << 20);
            p.wire = w -> List.of(100 * Pair.LATENCY_NANOS);
            p.a.post(1, SendOpcode.RDMA_WRITE, from, 4 << 20, to, 0);
            p.a.post(2, SendOpcode.RDMA_READ, from, 4 << 20, to, 0);
            p.run();
            int window = 2 * Math.min(128, 128 * 1024 / mtu);
            int acked = 0x1000 - 1;
            for (Pair.WirePacket w : p.trace) {
                if (w.fromA()) {
                    assertThat(w.psn() - acked).isLessThanOrEqualTo(window);
                } else {
                    acked = w.psn();
                }
            }
            assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS);
            assertThat(p.a.queuePair.counters().timeouts).isZero();
        }
    }

    /** At any window size, a requester that waits for window space has requested the acknowledgement that opens it. */
    @Test
    void fullWindowNeverWaitsForAnAcknowledgementThatWasNotRequested() {
        for (int lost = 1; lost < 700; lost += 9) {
            Pair p = pair(4096);
            MemoryRegion from = p.a.register(4 << 20);
            MemoryRegion to = p.b.register(4 << 20);
            int number = lost;
            p.wire = w -> w.fromA() && (w.number() == number || w.number() == number + 200)
                    ? List.of()
                    : List.of(10 * Pair.LATENCY_NANOS);
            p.a.post(1, SendOpcode.RDMA_WRITE, from, 4 << 20, to, 0);
            p.run();
            assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS);
            assertThat(p.a.queuePair.counters().timeouts)
                    .as("packet %d lost", lost)
                    .isZero();
        }
    }

    @Test
    void numberOfSmallMessagesInFlightDoesNotDependOnThePathMtu() {
        for (int mtu : new int[] {256, 1024, 4096}) {
            Pair.Options o = new Pair.Options();
            o.mtu = mtu;
            o.requests = 1024;
            Pair p = new Pair(o);
            MemoryRegion from = p.a.register(64);
            MemoryRegion to = p.b.register(64);
            p.wire = w -> List.of(100 * Pair.LATENCY_NANOS);
            for (int i = 0; i < 600; i++) {
                p.a.post(i, SendOpcode.RDMA_WRITE, from, 64, to, 0);
            }
            p.run();
            int max = 0;
            int acked = 0x1000 - 1;
            for (Pair.WirePacket w : p.trace) {
                if (w.fromA()) {
                    max = Math.max(max, w.psn() - acked);
                } else {
                    acked = w.psn();
                }
            }
            assertThat(max).isEqualTo(256);
            assertThat(p.a.queuePair.counters().timeouts).isZero();
            assertThat(p.a.statuses(false)).hasSize(600).containsOnly(CompletionStatus.SUCCESS);
        }
    }
}
