package io.rdma4j.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.stream.StreamEnd.Posted;
import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import io.rdma4j.wire.rsocket.ControlWord;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of memory that one side maps, and that its peer writes to without notification. */
@ParameterizedClass
@ValueSource(booleans = {true, false})
class MappedMemoryTest {
    private static final StreamSizes SIZES = new StreamSizes(32, 20, 16_384, 8192, 64, 3);
    private static final int TABLE_AT = 2 * BufferDescriptor.LENGTH;

    @Parameter
    boolean hasImmediate;

    private StreamPair pair = new StreamPair(SIZES, SIZES, true);

    @BeforeEach
    void start() {
        pair = StreamPair.started(SIZES, hasImmediate);
    }

    /** Returns a range of an end's mapped memory as a mapping entry for the peer. */
    private static MappingEntry piece(StreamEnd of, long offset, int at, int length) {
        return new MappingEntry(offset, new BufferDescriptor(of.mappedAddress + at, of.mappedKey, length));
    }

    private int writeMapped(byte[] bytes, long offset) {
        ByteBuffer source = ByteBuffer.wrap(bytes);
        int count = pair.a.protocol.writeMapped(source, offset);
        assertThat(source.position()).isEqualTo(Math.max(count, 0));
        return count;
    }

    private byte[] mapped(int at, int length) {
        return Arrays.copyOfRange(pair.b.mapped.toArray(ValueLayout.JAVA_BYTE), at, at + length);
    }

    @Test
    void mappingIsWrittenAfterThePeersBuffersAndAnnounced() {
        MappingEntry entry = piece(pair.b, 5000, 0, 1000);
        assertThat(pair.b.protocol.map(entry)).isZero();
        assertThat(pair.b.protocol.map(entry)).isOne();
        Posted first = pair.b.takePosted();
        assertThat(first.remoteAddress()).isEqualTo(pair.a.memory.tableAddress() + TABLE_AT);
        assertThat(first.remoteKey()).isEqualTo(pair.a.memory.tableKey());
        assertThat(first.mapping(ByteOrder.nativeOrder())).isEqualTo(entry);
        Posted word = hasImmediate ? first : pair.b.takePosted();
        assertThat(word.kind()).isEqualTo(ControlWord.MAPPING);
        assertThat(word.value()).isZero();
        assertThat(pair.b.takePosted().remoteAddress())
                .isEqualTo(pair.a.memory.tableAddress() + TABLE_AT + MappingEntry.LENGTH);
    }

    @Test
    void mappingIsAnnouncedInThePeersByteOrder() {
        for (boolean bigEndian : new boolean[] {false, true}) {
            StreamEnd end = new StreamEnd(SIZES, hasImmediate, 1);
            ConnectData connectData = end.connectData();
            end.protocol.onPeer(new ConnectData(bigEndian, true, 50, 1, connectData.table(), connectData.buffer()));
            end.protocol.start();
            end.completeAll();
            MappingEntry entry = new MappingEntry(1, new BufferDescriptor(2, 3, 4));
            end.protocol.map(entry);
            assertThat(end.takePosted().mapping(bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN))
                    .isEqualTo(entry);
        }
    }

    @Test
    void writtenBytesArriveWithoutNotification() {
        pair.b.protocol.map(piece(pair.b, 5000, 100, 9000));
        pair.deliver();
        assertThat(writeMapped(StreamPair.bytesAt(0, 7000), 6000)).isEqualTo(7000);
        assertThat(pair.a.posted.stream().map(Posted::bytes).map(bytes -> bytes.length))
                .containsExactly(7000);
        assertThat(pair.a.posted.stream().allMatch(request -> request.word() == null))
                .isTrue();
        pair.deliver();
        assertThat(mapped(1100, 7000)).isEqualTo(StreamPair.bytesAt(0, 7000));
        assertThat(mapped(0, 1100)).containsOnly(0);
        assertThat(mapped(8100, 1900)).containsOnly(0);
        assertThat(pair.b.protocol.availableBytes()).isZero();
        assertThat(pair.a.protocol.isQuiet()).isTrue();
    }

    @Test
    void writeSpansAdjacentMappings() {
        pair.b.protocol.map(piece(pair.b, 1000, 500, 100));
        pair.b.protocol.map(piece(pair.b, 900, 0, 100));
        pair.deliver();
        assertThat(writeMapped(StreamPair.bytesAt(0, 160), 920)).isEqualTo(160);
        pair.deliver();
        assertThat(mapped(20, 80)).isEqualTo(StreamPair.bytesAt(0, 80));
        assertThat(mapped(500, 80)).isEqualTo(StreamPair.bytesAt(80, 80));
    }

    @Test
    void writeEndsWhereTheMappingEnds() {
        pair.b.protocol.map(piece(pair.b, 1000, 0, 100));
        pair.deliver();
        assertThat(writeMapped(new byte[10], 999)).isEqualTo(-1);
        assertThat(writeMapped(new byte[10], 1100)).isEqualTo(-1);
        assertThat(writeMapped(new byte[10], -1)).isEqualTo(-1);
        assertThat(writeMapped(new byte[10], Long.MIN_VALUE)).isEqualTo(-1);
        assertThat(pair.a.posted).isEmpty();
        assertThat(writeMapped(new byte[10], 1095)).isEqualTo(5);
        assertThat(writeMapped(new byte[0], 5)).isZero();
    }

    @Test
    void fullTableRejectsMappingsUntilAnEntryIsReleased() {
        for (int i = 0; i < SIZES.mappingEntries(); i++) {
            assertThat(pair.b.protocol.map(piece(pair.b, i * 100L, i * 100, 100)))
                    .isEqualTo(i);
        }
        assertThat(pair.b.protocol.map(piece(pair.b, 999, 0, 1))).isEqualTo(-1);
        pair.deliver();
        pair.b.protocol.unmap(1, 100);
        pair.deliver();
        assertThat(writeMapped(new byte[10], 150)).isEqualTo(-1);
        assertThat(writeMapped(new byte[10], 250)).isEqualTo(10);
        assertThat(pair.b.protocol.map(piece(pair.b, 7000, 0, 1))).isOne();
        pair.deliver();
        assertThat(writeMapped(new byte[10], 7000)).isOne();
    }

    @Test
    void peerWithoutMappedMemorySupportGetsNoMappings() {
        StreamEnd end = new StreamEnd(SIZES, hasImmediate, 1);
        ConnectData connectData = end.connectData();
        end.protocol.onPeer(
                new ConnectData(connectData.bigEndian(), false, 50, 9, connectData.table(), connectData.buffer()));
        end.protocol.start();
        end.completeAll();
        assertThat(end.protocol.map(piece(end, 0, 0, 1))).isEqualTo(-1);
        assertThat(end.posted).isEmpty();
    }

    @Test
    void mappingBeforeTheConnectionIsRejected() {
        StreamEnd end = new StreamEnd(SIZES, hasImmediate, 1);
        assertThat(end.protocol.map(piece(end, 0, 0, 1))).isEqualTo(-1);
        end.protocol.unmap(0, 0);
        assertThat(end.protocol.writeMapped(ByteBuffer.allocate(3), 0)).isZero();
    }

    @Test
    void delayedMappingIsAnnouncedBeforeTheNextData() {
        while (pair.a.protocol.canWrite()) {
            pair.write(pair.a, 1);
        }
        pair.a.protocol.map(piece(pair.a, 0, 0, 100));
        assertThat(pair.a.posted.stream().map(Posted::kind)).doesNotContain(ControlWord.MAPPING);
        pair.deliver();
        pair.read(pair.b, 100);
        pair.deliver();
        pair.write(pair.a, 1);
        assertThat(pair.a.posted.stream().map(Posted::kind).filter(kind -> kind >= 0))
                .containsExactly(ControlWord.MAPPING, ControlWord.DATA);
    }

    @Test
    void mappingConsumesAndReturnsACredit() {
        for (int i = 0; i < 1000; i++) {
            int index = pair.b.protocol.map(piece(pair.b, i, 0, 1));
            pair.deliver();
            assertThat(writeMapped(new byte[1], i)).isOne();
            pair.deliver();
            pair.b.protocol.unmap(index, i);
            pair.deliver();
        }
        assertThat(pair.a.protocol.failure()).isNull();
        assertThat(pair.write(pair.b, 100)).isEqualTo(100);
    }

    @Test
    void outstandingMappingsDoNotOverwriteEachOther() {
        for (int i = 0; i < 100; i++) {
            int index = pair.b.protocol.map(piece(pair.b, i, i, 1));
            pair.deliverOne(pair.b);
            if (index >= 0) {
                pair.b.protocol.unmap(index, i);
            }
        }
        pair.deliver();
        assertThat(pair.a.protocol.failure()).isNull();
        assertThat(pair.b.protocol.isQuiet()).isTrue();
    }
}
