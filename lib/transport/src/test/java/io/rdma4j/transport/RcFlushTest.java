package io.rdma4j.transport;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.PlacementType;
import io.rdma4j.value.SelectivityLevel;
import io.rdma4j.value.SendOpcode;
import io.rdma4j.wire.Aeth;
import io.rdma4j.wire.Feth;
import io.rdma4j.wire.Opcode;
import io.rdma4j.wire.Reth;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** FLUSH. The bytes and answers are those of annex A19 and of Linux rdma_rxe 6.12. */
class RcFlushTest extends ResponderFixture {
    private static final int GLOBAL = PlacementType.GLOBAL.bit();
    private static final int PERSISTENT = PlacementType.PERSISTENT.bit();
    private static final int RANGE = SelectivityLevel.RANGE.code();
    private static final int REGION = SelectivityLevel.REGION.code();

    private static SendRequest flush(Pair p, long id, int placement, int selectivity, MemoryRegion target, long bytes) {
        SendRequest r = p.a.claim(id, SendOpcode.FLUSH);
        r.flushPlacement = placement;
        r.flushSelectivity = selectivity;
        r.flushBytes = bytes;
        r.remoteAddress = target.address();
        r.remoteKey = target.key();
        return r;
    }

    private Pair.WirePacket packet(int psn, int placement, int selectivity, long address, int key, int length) {
        Pair.WirePacket w = Pair.forge(true, Opcode.RC_FLUSH, psn, true, 0);
        Feth.write(w.segment(), Opcode.RC_FLUSH.extensionOffset(), placement, selectivity);
        Reth.write(w.segment(), Opcode.RC_FLUSH.rethOffset(), address, key, length);
        return w;
    }

    private static List<String> done(int psn) {
        return List.of("B READ_RESPONSE_ONLY " + psn);
    }

    @Test
    void flushAfterAWriteIsAnsweredByAReadResponseWithoutData() {
        MemoryRegion local = pair.a.register(Pair.pattern(100, 1), 0);
        pair.a.post(1, SendOpcode.RDMA_WRITE, local, 100, remote, 0);
        pair.a.publish(flush(pair, 2, GLOBAL, RANGE, remote, 100));
        pair.run();
        assertThat(pair.a.done)
                .contains(new Pair.Done(
                        2, CompletionStatus.SUCCESS, false, SendOpcode.FLUSH, false, 100, false, 0, false));
        assertThat(pair.a.ids(false)).containsExactly(1L, 2L);
        assertThat(remote.memory().asSlice(0, 100).toArray(ValueLayout.JAVA_BYTE))
                .isEqualTo(Pair.pattern(100, 1));
        assertThat(pair.traceLines()).contains("A FLUSH 4097", "B READ_RESPONSE_ONLY 4097");
        Pair.WirePacket request = pair.trace.stream()
                .filter(w -> w.opcode() == Opcode.RC_FLUSH)
                .findFirst()
                .orElseThrow();
        String key = HexFormat.of().toHexDigits(remote.key());
        String address = HexFormat.of().toHexDigits(remote.address());
        assertThat(hex(request)).isEqualTo("1c00ffff00000022" + "80001001" + "00000001" + address + key + "00000064");
        Pair.WirePacket response = pair.trace.stream()
                .filter(w -> w.opcode() == Opcode.RC_READ_RESPONSE_ONLY)
                .findFirst()
                .orElseThrow();
        assertThat(hex(response)).isEqualTo("1000ffff00000011" + "00001001" + "1f000002");
    }

    @Test
    void flushOfARegionIgnoresAddressAndLength() {
        assertThat(responsesTo(packet(PSN, GLOBAL, REGION, -1, remote.key(), -1)))
                .isEqualTo(done(PSN));
        assertThat(responsesTo(packet(PSN + 1, GLOBAL, REGION, 0, remote.key() + 1, 0)))
                .isEqualTo(nak(Aeth.NAK_REMOTE_ACCESS_ERROR, PSN + 1));
    }

    @ParameterizedTest
    @CsvSource({"0, 8192, true", "0, 0, true", "8192, 0, true", "0, 8193, false", "-1, 1, false", "8192, 1, false"})
    void flushOfARangeMustLieInTheRegion(long offset, int length, boolean isIn) {
        assertThat(responsesTo(packet(PSN, GLOBAL, RANGE, remote.address() + offset, remote.key(), length)))
                .isEqualTo(isIn ? done(PSN) : nak(Aeth.NAK_REMOTE_ACCESS_ERROR, PSN));
    }

    @Test
    void theKeyOfZeroBytesIsChecked() {
        assertThat(responsesTo(packet(PSN, GLOBAL, RANGE, remote.address(), remote.key() + 1, 0)))
                .isEqualTo(nak(Aeth.NAK_REMOTE_ACCESS_ERROR, PSN));
    }

    @ParameterizedTest
    @CsvSource({"0, 0", "4, 0", "9, 0", "1, 2", "1, 3"})
    void reservedValuesAreInvalidRequests(int placement, int selectivity) {
        assertThat(responsesTo(packet(PSN, placement, selectivity, remote.address(), remote.key(), 8)))
                .isEqualTo(nak(Aeth.NAK_INVALID_REQUEST, PSN));
        assertThat(pair.b.events).containsExactly(QueuePairEvent.REQUEST_ERROR);
    }

    @Test
    void lengthAndPayloadAreChecked() {
        assertThat(responsesTo(packet(PSN, GLOBAL, RANGE, remote.address(), remote.key(), 0x8000_0001)))
                .isEqualTo(nak(Aeth.NAK_INVALID_REQUEST, PSN));
        RcFlushTest t = new RcFlushTest();
        assertThat(t.responsesTo(t.packet(Opcode.RC_FLUSH, PSN, 4, 8))).isEqualTo(nak(Aeth.NAK_INVALID_REQUEST, PSN));
    }

    @ParameterizedTest
    @CsvSource({"1, 1, true", "1, 2, false", "2, 1, false", "3, 1, false", "3, 2, false"})
    void theQueuePairNeedsTheRightOfEachPlacementType(int placement, int granted, boolean isAllowed) {
        Pair.Options o = new Pair.Options();
        o.accessB = AccessFlag.REMOTE_WRITE.bit() | granted << 8;
        Pair p = new Pair(o);
        p.a.publish(flush(p, 1, placement, RANGE, p.b.register(64), 64));
        p.run();
        assertThat(p.a.statuses(false))
                .containsExactly(isAllowed ? CompletionStatus.SUCCESS : CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }

    @ParameterizedTest
    @CsvSource({"1, 1, true", "1, 2, false", "2, 1, false", "3, 1, false", "3, 2, false"})
    void theRegionNeedsTheRightOfEachPlacementType(int placement, int granted, boolean isAllowed) {
        Pair p = new Pair();
        p.a.publish(flush(p, 1, placement, REGION, p.b.register(new byte[64], granted << 8), 0));
        p.run();
        assertThat(p.a.statuses(false))
                .containsExactly(isAllowed ? CompletionStatus.SUCCESS : CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void memoryThatIsNotAMappedFileCannotBeMadePersistent() {
        pair.a.publish(flush(pair, 1, PERSISTENT, RANGE, remote, 64));
        pair.run();
        assertThat(pair.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(pair.b.events).containsExactly(QueuePairEvent.ACCESS_ERROR);
    }

    @Test
    void aMappedFileIsMadePersistent(@TempDir Path folder) throws IOException {
        Path path = folder.resolve("memory");
        Files.write(path, new byte[10_000]);
        try (Arena arena = Arena.ofShared();
                FileChannel file = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, 10_000, arena);
            MemoryRegion target = pair.b.memory.register(mapped, 0x1000, Pair.ALL_ACCESS, Pair.PD);
            pair.a.post(1, SendOpcode.RDMA_WRITE, pair.a.register(Pair.pattern(5000, 3), 0), 5000, target, 100);
            SendRequest range = flush(pair, 2, PERSISTENT | GLOBAL, RANGE, target, 5000);
            range.remoteAddress += 100;
            pair.a.publish(range);
            pair.a.publish(flush(pair, 3, PERSISTENT, REGION, target, 0));
            pair.run();
            assertThat(pair.a.statuses(false))
                    .containsExactly(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS, CompletionStatus.SUCCESS);
            byte[] expected = new byte[10_000];
            System.arraycopy(Pair.pattern(5000, 3), 0, expected, 100, 5000);
            assertThat(Files.readAllBytes(path)).isEqualTo(expected);
        }
        pair.a.publish(flush(pair, 4, PERSISTENT, REGION, pair.b.register(8), 0));
        pair.run();
        assertThat(pair.a.statuses(false)).last().isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @ParameterizedTest
    @EnumSource(
            value = SendOpcode.class,
            names = {"FLUSH", "ATOMIC_WRITE"})
    void aLostResponseIsRequestedAgain(SendOpcode opcode) {
        pair.wire = w ->
                w.opcode() == Opcode.RC_READ_RESPONSE_ONLY && w.number() == 1 ? List.of() : List.of(Pair.LATENCY_NANOS);
        SendRequest r = flush(pair, 1, GLOBAL, RANGE, remote, 64);
        r.opcode = opcode;
        pair.a.publish(r);
        pair.run();
        assertThat(pair.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS);
        assertThat(pair.a.queuePair.counters().timeouts).isOne();
        assertThat(pair.b.queuePair.counters().duplicateRequests).isOne();
    }

    @ParameterizedTest
    @EnumSource(
            value = SendOpcode.class,
            names = {"FLUSH", "ATOMIC_WRITE"})
    void anAcknowledgementOfALaterRequestDoesNotCompleteIt(SendOpcode opcode) {
        MemoryRegion local = pair.a.register(8);
        pair.wire = w ->
                w.opcode() == Opcode.RC_READ_RESPONSE_ONLY && w.number() == 1 ? List.of() : List.of(Pair.LATENCY_NANOS);
        SendRequest r = flush(pair, 1, GLOBAL, RANGE, remote, 64);
        r.opcode = opcode;
        pair.a.publish(r);
        pair.a.post(2, SendOpcode.RDMA_WRITE, local, 8, remote, 64);
        pair.run();
        assertThat(pair.a.statuses(false)).containsExactly(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS);
        assertThat(pair.a.queuePair.counters().impliedNaks).isOne();
        assertThat(pair.a.queuePair.counters().timeouts).isZero();
    }

    @Test
    void aFenceWaitsForAFlush() {
        MemoryRegion local = pair.a.register(8);
        pair.a.publish(flush(pair, 1, GLOBAL, REGION, remote, 0));
        SendRequest write = pair.a.claim(2, SendOpcode.RDMA_WRITE);
        write.list.add(local, 0, 8);
        write.remoteAddress = remote.address();
        write.remoteKey = remote.key();
        write.fence = true;
        pair.a.publish(write);
        pair.run();
        assertThat(pair.traceLines())
                .containsExactly(
                        "A FLUSH 4096", "B READ_RESPONSE_ONLY 4096", "A WRITE_ONLY 4097", "B ACKNOWLEDGE 4097 1f");
    }

    /** Linux limits the READs in flight, but not the FLUSHes. */
    @Test
    void flushWithoutAFreeResourceIsHandledAsIfLost() {
        Pair.Options o = new Pair.Options();
        o.destinationDepth = 2;
        Pair p = new Pair(o);
        MemoryRegion target = p.b.register(64);
        for (int i = 0; i < 4; i++) {
            Opcode opcode = i < 3 ? Opcode.RC_FLUSH : Opcode.RC_READ_REQUEST;
            Pair.WirePacket w = Pair.forge(true, opcode, PSN + i, true, 0);
            if (opcode.isFlush()) {
                Feth.write(w.segment(), opcode.extensionOffset(), GLOBAL, REGION);
            }
            Reth.write(w.segment(), opcode.rethOffset(), target.address(), target.key(), 8);
            p.deliver(w);
        }
        p.pump(p.b);
        assertThat(p.traceLines())
                .containsExactly(
                        "B READ_RESPONSE_ONLY " + PSN,
                        "B READ_RESPONSE_ONLY " + (PSN + 1),
                        "B ACKNOWLEDGE " + (PSN + 2) + " 60");
    }

    @Test
    void flushIsRefusedOnBothSidesWithoutResponderResources() {
        Pair.Options o = new Pair.Options();
        o.destinationDepth = 0;
        o.depth = 0;
        Pair p = new Pair(o);
        p.a.publish(flush(p, 1, GLOBAL, REGION, p.b.register(8), 0));
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.LOCAL_QUEUE_PAIR_OPERATION_ERROR);
        Pair.Options onlyB = new Pair.Options();
        onlyB.destinationDepth = 0;
        Pair q = new Pair(onlyB);
        q.a.publish(flush(q, 1, GLOBAL, REGION, q.b.register(8), 0));
        q.run();
        assertThat(q.a.statuses(false)).containsExactly(CompletionStatus.REMOTE_INVALID_REQUEST_ERROR);
    }

    @Test
    void lengthsThatNoPacketCarriesFailLocally() {
        pair.a.publish(flush(pair, 1, GLOBAL, RANGE, remote, (1L << 31) + 1));
        pair.run();
        assertThat(pair.a.statuses(false)).containsExactly(CompletionStatus.LOCAL_LENGTH_ERROR);
        Pair p = new Pair();
        p.a.post(1, SendOpcode.FLUSH, p.a.register(8), 0, 8);
        p.run();
        assertThat(p.a.statuses(false)).containsExactly(CompletionStatus.LOCAL_LENGTH_ERROR);
    }
}
