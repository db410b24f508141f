package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Reth;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** ATOMIC WRITE. The bytes and answers are those of annex A19 and of Linux rdma_rxe 6.12. */
class RcAtomicWriteTest extends ResponderFixture {
    private static final Opcode REQUEST = Opcode.RC_ATOMIC_WRITE;

    private static void post(Pair p, long id, MemoryRegion target, long offset, long value) {
        SendRequest r = p.a.claim(id, SendOpcode.ATOMIC_WRITE);
        r.remoteAddress = target.address() + offset;
        r.remoteKey = target.key();
        r.swapOrAdd = value;
        p.a.publish(r);
    }

    private static long word(MemoryRegion region, long offset) {
        return region.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void eightBytesAreStoredAndAnsweredByAReadResponseWithoutData(boolean isNative) {
        MemorySegment memory = isNative ? Arena.ofAuto().allocate(64, 8) : MemorySegment.ofArray(new byte[64]);
        MemoryRegion target = pair.b.memory.register(memory, 0x7000, Pair.ALL_ACCESS, Pair.PD);
        post(pair, 1, target, 8, 0x0102_0304_0506_0708L);
        pair.run();
        assertThat(pair.a.done)
                .containsExactly(new Pair.Done(
                        1, CompletionStatus.SUCCESS, false, SendOpcode.ATOMIC_WRITE, false, 8, false, 0, false));
        assertThat(word(target, 0)).isZero();
        assertThat(word(target, 8)).isEqualTo(0x0102_0304_0506_0708L);
        assertThat(word(target, 16)).isZero();
        assertThat(pair.traceLines()).containsExactly("A ATOMIC_WRITE 4096", "B READ_RESPONSE_ONLY 4096");
        boolean isLittle = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;
        assertThat(hex(pair.trace.getFirst()))
                .isEqualTo("1d00ffff00000022" + "80001000" + "0000000000007008"
                        + HexFormat.of().toHexDigits(target.key()) + "00000008"
                        + (isLittle ? "0807060504030201" : "0102030405060708"));
        assertThat(hex(pair.trace.getLast())).isEqualTo("1000ffff00000011" + "00001000" + "1f000001");
    }

    @Test
    void writeIsExecutedBetweenTheRequestsAroundIt() {
        MemoryRegion local = pair.a.register(Pair.pattern(8, 5), 0);
        MemoryRegion result = pair.a.register(16);
        pair.a.post(1, SendOpcode.RDMA_WRITE, local, 8, remote, 0);
        post(pair, 2, remote, 0, 77);
        pair.a.post(3, SendOpcode.RDMA_READ, result, 8, remote, 0);
        pair.run();
        assertThat(pair.a.ids(false)).containsExactly(1L, 2L, 3L);
        assertThat(word(result, 0)).isEqualTo(77);
    }

    @Test
    void duplicateIsAnsweredAndNotExecutedAgain() {
        Pair.WirePacket w = packet(REQUEST, PSN, 8, 8);
        w.segment().set(ValueLayout.JAVA_LONG_UNALIGNED, REQUEST.headerLength(), 5);
        assertThat(responsesTo(w)).containsExactly("B READ_RESPONSE_ONLY " + PSN);
        assertThat(word(remote, 0)).isEqualTo(5);
        remote.memory().set(ValueLayout.JAVA_LONG_UNALIGNED, 0, 6); // a later change
        assertThat(responsesTo(w)).containsExactly("B READ_RESPONSE_ONLY " + PSN);
        assertThat(word(remote, 0)).isEqualTo(6);
    }

    @Test
    void duplicateOfAnotherKindIsIgnored() {
        responsesTo(packet(REQUEST, PSN, 8, 8));
        assertThat(responsesTo(packet(Opcode.RC_FLUSH, PSN, 0, 8))).isEmpty();
        assertThat(responsesTo(packet(Opcode.RC_READ_REQUEST, PSN, 0, 8))).isEmpty();
        assertThat(responsesTo(packet(Opcode.RC_FETCH_ADD, PSN, 0, 8))).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"4, 4", "0, 0", "8, 9", "8, 7", "12, 12", "8, 0", "0, 8", "16, 16"})
    void onlyEightBytesAreValid(int payload, int length) {
        assertThat(responsesTo(packet(REQUEST, PSN, payload, length))).isEqualTo(nak(Aeth.NAK_INVALID_REQUEST, PSN));
        assertThat(remote.memory().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(new byte[8192]);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 7})
    void theAddressMustBeAMultipleOfEight(int offset) {
        post(pair, 1, remote, offset, -1);
        pair.run();
        assertThat(pair.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        assertThat(remote.memory().toArray(ValueLayout.JAVA_BYTE)).isEqualTo(new byte[8192]);
    }

    @Test
    void writeNeedsOnlyRemoteWriteOfQueuePairAndRegion() {
        Pair.Options o = new Pair.Options();
        o.accessB = Pair.ALL_ACCESS & ~AccessFlag.REMOTE_WRITE.bit();
        Pair p = new Pair(o);
        post(p, 1, p.b.register(8), 0, 1);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
        p = new Pair();
        MemoryRegion region = p.b.register(new byte[8], Pair.ALL_ACCESS & ~AccessFlag.REMOTE_WRITE.bit());
        post(p, 1, region, 0, 1);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(word(region, 0)).isZero();
        o.accessB = AccessFlag.REMOTE_WRITE.bit();
        p = new Pair(o);
        region = p.b.register(new byte[8], AccessFlag.LOCAL_WRITE.bit() | AccessFlag.REMOTE_WRITE.bit());
        post(p, 1, region, 0, 1);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS);
        assertThat(word(region, 0)).isOne();
    }

    @Test
    void storeMayEndAtTheEndOfTheRegionButNotBehindIt() {
        post(pair, 1, remote, 8192 - 8, 1);
        post(pair, 2, remote, 8192, 1);
        pair.run();
        assertThat(pair.a.statuses(false))
                .containsExactly(CompletionStatus.SUCCESS, CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(word(remote, 8192 - 8)).isOne();
    }

    @Test
    void inFlightLimitIsThatOfReads() {
        Pair.Options o = new Pair.Options();
        o.depth = 2;
        Pair p = new Pair(o);
        MemoryRegion target = p.b.register(64);
        for (int i = 0; i < 6; i++) {
            post(p, i, target, 8L * i, i + 1);
        }
        p.pump(p.a);
        assertThat(p.traceLines()).hasSize(2);
        p.run();
        assertThat(p.a.statuses(false)).hasSize(6).containsOnly(CompletionStatus.SUCCESS);
        assertThat(word(target, 40)).isEqualTo(6);
    }

    @Test
    void responseWithDataIsRejected() {
        post(pair, 1, remote, 0, 1);
        pair.pump(pair.a);
        Pair.WirePacket w = Pair.forge(false, Opcode.RC_READ_RESPONSE_ONLY, PSN, false, 8);
        Aeth.write(w.segment(), 12, Aeth.ACK, 1);
        pair.deliver(w);
        pair.run();
        assertThat(pair.a.statuses(false)).isEqualTo(List.of(CompletionStatus.BAD_RESPONSE_ERROR));
    }

    @Test
    void extendedConnectionsCarryTheSharedReceiveQueueFirst() {
        assertThat(Opcode.XRC_ATOMIC_WRITE.rethOffset()).isEqualTo(16);
        assertThat(Opcode.XRC_FLUSH.extensionOffset()).isEqualTo(16);
        assertThat(Opcode.XRC_FLUSH.rethOffset()).isEqualTo(20);
        assertThat(Reth.LENGTH + Opcode.XRC_FLUSH.rethOffset()).isEqualTo(Opcode.XRC_FLUSH.headerLength());
    }
}
