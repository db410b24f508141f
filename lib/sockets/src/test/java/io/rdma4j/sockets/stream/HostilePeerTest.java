package io.rdma4j.sockets.stream;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.rdma4j.wire.rsocket.BufferDescriptor;
import io.rdma4j.wire.rsocket.ConnectData;
import io.rdma4j.wire.rsocket.ControlWord;
import io.rdma4j.wire.rsocket.MappingEntry;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A peer that violates the protocol breaks only its stream. */
class HostilePeerTest {
    private static final int RING = 8192;
    private static final int MAX_VALUE = (1 << 29) - 1;
    private static final StreamSizes SIZES = new StreamSizes(32, 20, 16_384, RING, 64, 2);

    private final StreamEnd end = StreamEnd.alone(SIZES);
    private final StreamProtocol protocol = end.protocol;

    @BeforeEach
    void start() {
        ConnectData connectData = end.connectData();
        BufferDescriptor elsewhere = new BufferDescriptor(0x1000, 99, 1000);
        protocol.onPeer(new ConnectData(connectData.bigEndian(), true, 50, 2, connectData.table(), elsewhere));
        protocol.start();
        end.completeAll();
    }

    private void assertBroken(String why) {
        assertThat(protocol.failure()).contains(why);
        assertThat(protocol.isOpen()).isFalse();
        assertThat(end.posted).isEmpty();
        protocol.update();
        protocol.keepAlive();
        protocol.shutdownOutput();
        protocol.disconnect();
        protocol.map(new MappingEntry(0, new BufferDescriptor(1, 2, 3)));
        assertThat(end.write(new byte[10])).isZero();
        end.data(new byte[10], 5000);
        assertThat(end.posted).as("messages to an untrusted peer").isEmpty();
        assertThat(protocol.isQuiet()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"0, 2, 50", "0, 0, 50", "-1, 2, 50", "1000, 2, 0", "1000, -1, 50"})
    void invalidConnectionDataIsRejected(int bufferLength, int entries, int credits) {
        StreamEnd other = StreamEnd.alone(SIZES);
        BufferDescriptor table = new BufferDescriptor(0x5000, 1, entries);
        BufferDescriptor buffer = new BufferDescriptor(0x1000, 1, bufferLength);
        assertThat(other.protocol.onPeer(new ConnectData(false, true, credits, 0, table, buffer)))
                .isFalse();
        other.protocol.start();
        assertThat(other.posted).isEmpty();
        assertThat(other.write(new byte[10])).isZero();
    }

    @ParameterizedTest
    @ValueSource(ints = {RING + 1, 1 << 28, MAX_VALUE})
    void moreBytesThanOfferedBreakTheStream(int length) {
        end.word(ControlWord.DATA, length, length);
        assertThat(protocol.availableBytes()).isZero();
        assertBroken("announced " + length + " bytes");
    }

    @Test
    void bytesForAnUnofferedHalfBreakTheStream() {
        StreamEnd early = StreamEnd.alone(SIZES);
        early.protocol.onPeer(early.connectData());
        early.word(ControlWord.DATA, RING / 2, RING / 2);
        assertThat(early.protocol.failure()).isNull();
        early.word(ControlWord.DATA, 1, 1);
        assertThat(early.protocol.failure()).contains("announced 1 bytes");
    }

    @Test
    void validDataCanStillBeRead() {
        end.data(StreamPair.bytesAt(0, 100), 0);
        end.word(ControlWord.DATA, RING, RING);
        assertBroken("announced 8192 bytes");
        assertThat(end.read(200)).isEqualTo(StreamPair.bytesAt(0, 100));
        assertThat(end.posted).isEmpty();
    }

    @Test
    void moreMessagesThanGrantedBreakTheStream() {
        for (int i = 0; i < SIZES.receiveQueue(); i++) {
            end.data(new byte[1], i);
            assertThat(protocol.failure()).as("message %d", i).isNull();
        }
        end.data(new byte[1], 20);
        assertBroken("announced 1 bytes");
        assertThat(protocol.availableBytes()).isEqualTo(20);
    }

    @Test
    void emptyMessagesAreOnlyCounted() {
        for (int i = 0; i < 1000; i++) {
            end.word(ControlWord.DATA, 0, 0);
            end.completeAll();
        }
        assertThat(protocol.failure()).isNull();
        assertThat(protocol.availableBytes()).isZero();
        assertThat(protocol.isInputEnded()).isFalse();
    }

    @Test
    void dataAfterTheEndOfOutputBreaksTheStream() {
        end.word(ControlWord.CONTROL, ControlWord.SHUTDOWN, 0);
        end.data(new byte[1], 0);
        assertBroken("announced 1 bytes");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 5})
    void wordsOfUnknownKindBreakTheStream(int kind) {
        end.word(kind, 17, 0);
        assertBroken("unknown control word");
    }

    @ParameterizedTest
    @ValueSource(ints = {3, 4, 1000, MAX_VALUE})
    void controlMessagesOfALaterProtocolAreIgnored(int value) {
        end.word(ControlWord.CONTROL, value, 0);
        assertThat(protocol.isOpen()).isTrue();
        assertThat(protocol.isInputEnded()).isFalse();
        assertThat(end.posted).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 0xffff, MAX_VALUE})
    void mappingIndexOutOfRangeBreaksTheStream(int index) {
        end.word(ControlWord.MAPPING, index, MappingEntry.LENGTH);
        assertBroken("entry " + index + " of 2");
    }

    @Test
    void thirdBufferBreaksTheStream() {
        end.offer(1, new BufferDescriptor(0x2000, 99, 1000), 50);
        assertThat(protocol.failure()).isNull();
        end.offer(0, new BufferDescriptor(0x3000, 99, 1000), 50);
        assertBroken("offered an empty buffer");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void emptyBufferBreaksTheStream(int length) {
        end.offer(1, new BufferDescriptor(0x2000, 99, length), 50);
        assertBroken("offered an empty buffer");
    }

    @Test
    void wordForAnUnwrittenBufferBreaksTheStream() {
        end.word(ControlWord.CREDIT, 50, 16);
        assertBroken("offered an empty buffer");
    }

    @Test
    void invalidCreditDoesNotOverrunThisSide() {
        SplittableRandom random = new SplittableRandom(5);
        for (int i = 0; i < 10_000; i++) {
            end.word(ControlWord.CREDIT, random.nextInt(MAX_VALUE + 1), 0);
            end.write(new byte[1]); // StreamEnd checks that the send queue is not overrun
            if (i % 40 == 0) {
                end.completeAll();
            }
        }
        assertThat(protocol.failure()).isNull();
    }

    @Test
    void mappingWithOverflowingRangeMatchesOnlyItsOffsets() {
        ByteBuffer entry = ByteBuffer.allocate(MappingEntry.LENGTH).order(ByteOrder.nativeOrder());
        new MappingEntry(Long.MIN_VALUE, new BufferDescriptor(-100, 1, -1)).write(entry, 0);
        end.store(entry.array(), end.memory.tableAddress() + 32, end.memory.tableKey());
        end.word(ControlWord.MAPPING, 0, MappingEntry.LENGTH);
        assertThat(protocol.writeMapped(ByteBuffer.allocate(10_000), 5)).isEqualTo(-1);
        assertThat(protocol.writeMapped(ByteBuffer.allocate(10_000), Long.MIN_VALUE + 0xffff_fff0L))
                .isEqualTo(15);
    }

    @Test
    void noInputOfAPeerThrows() {
        for (long seed = 0; seed < 20_000; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            assertThatCode(() -> sendRandomInput(random)).as("seed %d", seed).doesNotThrowAnyException();
        }
    }

    private static void sendRandomInput(SplittableRandom random) {
        StreamEnd end = new StreamEnd(SIZES, random.nextBoolean(), 1);
        int entries = random.nextInt(4);
        BufferDescriptor table = new BufferDescriptor(random.nextLong(), 1, entries == 3 ? random.nextInt() : entries);
        int bufferLength = random.nextBoolean() ? random.nextInt() : random.nextInt(5000);
        BufferDescriptor buffer = new BufferDescriptor(random.nextLong(), 1, bufferLength);
        end.protocol.onPeer(new ConnectData(
                random.nextBoolean(),
                random.nextBoolean(),
                random.nextInt(random.nextBoolean() ? 3 : 0x1_0000),
                random.nextInt(300),
                table,
                buffer));
        end.protocol.start();
        byte[] any = new byte[(int) StreamMemory.tableBytes(SIZES)];
        for (int step = random.nextInt(60); step > 0; step--) {
            switch (random.nextInt(9)) {
                case 0 -> {
                    random.nextBytes(any);
                    end.memory.table().asSlice(0, any.length).copyFrom(MemorySegment.ofArray(any));
                }
                case 1 ->
                    end.memory
                            .table()
                            .setAtIndex(ValueLayout.JAVA_INT_UNALIGNED, random.nextInt(8), random.nextInt(9000));
                case 2, 3, 4 -> {
                    int value = random.nextBoolean() ? random.nextInt(5000) : random.nextInt(MAX_VALUE + 1);
                    end.word(random.nextInt(8), random.nextInt(3) == 0 ? random.nextInt(4) : value, random.nextInt(30));
                }
                case 5 -> end.write(new byte[random.nextInt(9000)]);
                case 6 -> end.protocol.writeMapped(ByteBuffer.allocate(random.nextInt(9000)), anyOffset(random));
                case 7 -> end.read(random.nextInt(9000));
                default -> {
                    if (!end.posted.isEmpty()) {
                        end.takePosted();
                        end.complete();
                    }
                }
            }
        }
        end.protocol.disconnect();
        end.completeAll();
        assertThat(end.protocol.isQuiet()).isTrue();
    }

    private static long anyOffset(SplittableRandom random) {
        return random.nextInt(3) == 0 ? random.nextLong() : random.nextInt(5000);
    }
}
