package io.rdma4j.link.ring;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.link.Frames;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import io.rdma4j.wire.Frame;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The writer and the reader of a ring, and what another process may write into its memory. {@code
 * -Drdma4j.seed=N} repeats the random test.
 */
@Timeout(60)
class RingTest {
    private static final int CAPACITY = RingLayout.MIN_CAPACITY_BYTES;
    private static final int BURST_BYTES = 1 << 16;
    private static final int SOURCE_PORT = 0xc123;

    /** The bytes of a frame that is alone in the smallest record. */
    private static final int SMALLEST = RingLayout.ALIGNMENT - RingLayout.HEADER_BYTES;

    private final MemorySegment memory = Arena.ofAuto().allocate(RingLayout.RECORDS + CAPACITY, 4096);
    private final RingWriter writer = new RingWriter(memory);
    private final RingReader reader = new RingReader(memory, false);
    private final SendBurst burst = new SendBurst(Arena.ofAuto(), BURST_BYTES);
    private final ReceiveBurst received = new ReceiveBurst(64);

    // ---- helpers

    private boolean write(int bytes, int... fills) {
        burst.clear();
        for (int fill : fills) {
            Frames.append(burst, bytes, fill);
        }
        return writer.write(burst, SOURCE_PORT);
    }

    private int poll(int most) {
        received.clear();
        int count = reader.poll(received, most);
        assertThat(received.count()).isEqualTo(count);
        return count;
    }

    /** Reads until nothing is left, and returns the first byte of each frame. */
    private String pollAll() {
        StringBuilder fills = new StringBuilder();
        while (poll(7) > 0) {
            for (int i = 0; i < received.count(); i++) {
                fills.append(Frames.bytes(received.frame(i))[0]).append(' ');
            }
        }
        return fills.toString().trim();
    }

    private long tail() {
        return memory.get(JAVA_LONG, RingLayout.TAIL);
    }

    private void setTail(long tail) {
        memory.set(JAVA_LONG, RingLayout.TAIL, tail);
    }

    private long head() {
        return memory.get(JAVA_LONG, RingLayout.HEAD);
    }

    private void setHead(long head) {
        memory.set(JAVA_LONG, RingLayout.HEAD, head);
    }

    private void setRecord(long at, int bytes, int frameBytes) {
        memory.set(JAVA_INT, RingLayout.RECORDS + at, bytes);
        memory.set(JAVA_INT, RingLayout.RECORDS + at + RingLayout.FRAME_BYTES, frameBytes);
    }

    private byte[] contents() {
        return memory.toArray(JAVA_BYTE);
    }

    /** Fills the ring with records of the smallest size, each with one frame, and returns their number. */
    private int fill() {
        int records = 0;
        while (write(SMALLEST, records & 0x3f)) {
            records++;
        }
        return records;
    }

    /** Moves writer and reader to an offset, at which nothing is pending. */
    private void advanceTo(long offset) {
        while (tail() < offset) {
            assertThat(write(SMALLEST, 1)).isTrue();
            assertThat(poll(1)).isEqualTo(1);
        }
        assertThat(poll(1)).isZero();
        assertThat(head()).isEqualTo(offset);
    }

    // ---- frames

    /** A frame that was written and is to be read. */
    private record Expected(ByteBuffer bytes, int port, int trafficClass, boolean isSealed, int index) {
        void assertIs(Frame frame) {
            assertThat(ByteBuffer.wrap(Frames.bytes(frame))).isEqualTo(bytes);
            assertThat(frame.sourcePort).isEqualTo(port);
            assertThat(frame.destinationPort).isEqualTo(Frame.UDP_PORT);
            assertThat(frame.trafficClass).isEqualTo(trafficClass);
            assertThat(frame.isSealed).isEqualTo(isSealed);
            assertThat(frame.identification).isEqualTo(index);
        }
    }

    @Test
    void everyFrameIsReadOnceCompleteAndInOrder() {
        long seed = Long.getLong("rdma4j.seed", System.nanoTime());
        System.out.println("RingTest -Drdma4j.seed=" + seed);
        Random random = new Random(seed);
        Deque<Expected> pending = new ArrayDeque<>();
        int refusals = 0;
        long readFrames = 0;
        for (int round = 0; round < 20_000; round++) {
            for (int i = random.nextInt(6); i > 0; i--) {
                refusals += writeRandomly(random, pending) ? 0 : 1;
            }
            received.clear();
            for (int i = random.nextInt(6); i > 0 && !received.isFull(); i--) {
                int before = received.count();
                int most = Math.min(1 + random.nextInt(40), received.capacity() - before);
                int added = reader.poll(received, most);
                assertThat(added).isBetween(pending.isEmpty() ? 0 : 1, Math.min(most, pending.size()));
                assertThat(received.count()).isEqualTo(before + added);
                for (int n = 0; n < added; n++) {
                    pending.remove().assertIs(received.frame(before + n));
                }
                readFrames += added;
            }
        }
        assertThat(readFrames).isGreaterThan(10_000);
        assertThat(refusals).as("times that the ring was full").isPositive();
        assertThat(tail()).as("bytes written").isGreaterThan(10L * CAPACITY);
        assertThat(reader.isBroken() || writer.isBroken()).isFalse();
    }

    /** Writes a burst of random frames; returns whether there was room. */
    private boolean writeRandomly(Random random, Deque<Expected> pending) {
        int bytes = random.nextBoolean() ? 1 + random.nextInt(100) : 1 + random.nextInt(SendBurst.MAX_FRAME_BYTES);
        int count = random.nextBoolean() ? 1 : 1 + random.nextInt(40);
        int port = random.nextInt(1 << 16);
        int trafficClass = random.nextInt(1 << 8);
        burst.clear();
        burst.destination(0, 0, 0, trafficClass);
        boolean isSealed = random.nextBoolean();
        if (!isSealed) {
            burst.withoutIcrc();
        }
        Deque<Expected> written = new ArrayDeque<>();
        while (burst.count() < count && burst.hasRoom(count)) {
            boolean isLast = burst.count() == count - 1;
            byte[] frame = new byte[isLast ? 1 + random.nextInt(bytes) : bytes];
            random.nextBytes(frame);
            written.add(new Expected(ByteBuffer.wrap(frame), port, trafficClass, isSealed, burst.count()));
            MemorySegment.copy(frame, 0, burst.segment(), JAVA_BYTE, burst.tail(), frame.length);
            burst.append(frame.length);
        }
        boolean isWritten = writer.write(burst, port);
        if (isWritten) {
            pending.addAll(written);
        }
        return isWritten;
    }

    @Test
    void writerThatFindsNoRoomWritesNothing() {
        int records = fill();
        byte[] full = contents();
        assertThat(records).isEqualTo(CAPACITY / RingLayout.ALIGNMENT);
        assertThat(write(SMALLEST, 77)).isFalse();
        assertThat(contents()).isEqualTo(full);
        assertThat(poll(3)).isEqualTo(3);
        assertThat(write(SMALLEST, 77, 77, 77, 77))
                .as("four frames in the room of three")
                .isFalse();
        setHead(0);
        assertThat(contents()).isEqualTo(full);
        assertThat(writer.isBroken()).isFalse();
    }

    @Test
    void burstsForWhichThereIsRoomAreWritten() {
        int bytes = 1000;
        int written = 0;
        while (writer.hasRoomFor(2 * bytes)) {
            assertThat(write(bytes, 1)).isTrue();
            assertThat(write(bytes, 2)).isTrue();
            written += 2;
        }
        assertThat(written * bytes).as("most of the ring").isGreaterThan(CAPACITY * 3 / 4);
        assertThat(poll(8)).isEqualTo(8);
        assertThat(poll(1)).isEqualTo(1);
        assertThat(writer.hasRoomFor(2 * bytes)).isTrue();
        setHead(tail() + 64);
        assertThat(writer.hasRoomFor(CAPACITY / 4)).as("a ring that is broken").isFalse();
    }

    @Test
    void fullRingIsReadToItsEndAndFilledAgain() {
        int records = fill();
        for (int i = 0; i < records; i++) {
            assertThat(poll(1)).isEqualTo(1);
            assertThat(Frames.bytes(received.frame(0))).isEqualTo(Frames.filled(SMALLEST, i & 0x3f));
        }
        assertThat(poll(1)).isZero();
        assertThat(head()).isEqualTo(CAPACITY);
        assertThat(fill()).isEqualTo(records);
    }

    @Test
    void roomOfARecordIsReleasedByThePollAfterItsLastFrame() {
        assertThat(write(SMALLEST, 1, 2, 3)).isTrue();
        assertThat(write(SMALLEST, 4)).isTrue();
        assertThat(poll(2)).isEqualTo(2);
        assertThat(head()).isZero();
        assertThat(poll(1)).isEqualTo(1);
        assertThat(head()).isZero();
        assertThat(poll(1)).isEqualTo(1);
        assertThat(head()).isEqualTo(RingLayout.recordBytes(3 * SMALLEST));
        assertThat(Frames.bytes(received.frame(0))[0]).isEqualTo((byte) 4);
        assertThat(poll(1)).isZero();
        assertThat(head()).isEqualTo(tail());
    }

    @Test
    void recordThatDoesNotFitBeforeTheEndBeginsAtTheStart() {
        advanceTo(CAPACITY - RingLayout.ALIGNMENT);
        assertThat(write(100, 8, 9)).isTrue();
        assertThat(tail()).isEqualTo(CAPACITY + RingLayout.recordBytes(200));
        assertThat(pollAll()).isEqualTo("8 9");
        assertThat(head()).isEqualTo(tail());
    }

    @Test
    void recordThatEndsWithTheRingNeedsNoPadding() {
        advanceTo(CAPACITY - 2 * RingLayout.ALIGNMENT);
        assertThat(write(2 * RingLayout.ALIGNMENT - RingLayout.HEADER_BYTES, 8)).isTrue();
        assertThat(tail()).isEqualTo(CAPACITY);
        assertThat(pollAll()).isEqualTo("8");
    }

    @Test
    void burstWithoutBytesWritesNothing() {
        assertThat(write(SMALLEST)).isTrue();
        assertThat(write(0, 1)).isTrue();
        assertThat(tail()).isZero();
        assertThat(pollAll()).isEmpty();
        assertThat(reader.isBroken()).isFalse();
    }

    @Test
    void lastFrameOfABurstMayBeShorter() {
        burst.clear();
        Frames.append(burst, 300, 1);
        Frames.append(burst, 300, 2);
        Frames.append(burst, 1, 3);
        assertThat(writer.write(burst, SOURCE_PORT)).isTrue();
        assertThat(poll(9)).isEqualTo(3);
        assertThat(Frames.bytes(received.frame(0))).isEqualTo(Frames.filled(300, 1));
        assertThat(Frames.bytes(received.frame(1))).isEqualTo(Frames.filled(300, 2));
        assertThat(Frames.bytes(received.frame(2))).isEqualTo(Frames.filled(1, 3));
    }

    @Test
    void framesCarryPortTrafficClassSealAndTheirIndex() {
        burst.clear();
        burst.destination(1, 2, 0, 0xfe);
        burst.withoutIcrc();
        Frames.append(burst, 20, 5);
        Frames.append(burst, 20, 6);
        assertThat(writer.write(burst, 0xffff)).isTrue();
        burst.clear();
        burst.destination(1, 2, 0, 0);
        Frames.append(burst, 20, 7);
        assertThat(writer.write(burst, 1)).isTrue();

        assertThat(poll(9)).isEqualTo(3);
        new Expected(ByteBuffer.wrap(Frames.filled(20, 5)), 0xffff, 0xfe, false, 0).assertIs(received.frame(0));
        new Expected(ByteBuffer.wrap(Frames.filled(20, 6)), 0xffff, 0xfe, false, 1).assertIs(received.frame(1));
        new Expected(ByteBuffer.wrap(Frames.filled(20, 7)), 1, 0, true, 0).assertIs(received.frame(2));
    }

    /** The engine checks a frame and then uses it, so the writer must not be able to change it in between. */
    @Test
    void writerCannotChangeAFrameThatWasRead() {
        assertThat(write(SMALLEST, 1, 2)).isTrue();
        assertThat(poll(9)).isEqualTo(2);
        memory.fill((byte) 0xff);
        for (int i = 0; i < 2; i++) {
            Frame frame = received.frame(i);
            assertThat(Frames.bytes(frame)).isEqualTo(Frames.filled(SMALLEST, i + 1));
            assertThat(frame.buffer.get(frame.offset)).as("the same memory").isEqualTo((byte) (i + 1));
        }
    }

    @Test
    void pollAddsNoMoreFramesThanItMay() {
        assertThat(write(SMALLEST, 1, 2, 3, 4, 5)).isTrue();
        assertThat(poll(0)).isZero();
        assertThat(poll(4)).isEqualTo(4);
        assertThat(reader.poll(received, 4)).isEqualTo(1);
        assertThat(received.count()).isEqualTo(5);
        assertThat(Frames.bytes(received.frame(4))[0]).isEqualTo((byte) 5);
    }

    @ParameterizedTest
    @ValueSource(
            longs = {
                0,
                CAPACITY,
                RingLayout.RECORDS,
                RingLayout.RECORDS + CAPACITY - 64,
                RingLayout.RECORDS + 3 * CAPACITY,
                1 << 17,
                (1L << 32) + RingLayout.RECORDS + CAPACITY
            })
    void memoryOfAnotherSizeIsNoRing(long bytes) {
        assertThat(RingLayout.isMemorySize(bytes)).isFalse();
    }

    @Test
    void writerAndReaderRefuseMemoryThatIsNoRing() {
        MemorySegment other = memory.asSlice(0, CAPACITY);
        assertThatThrownBy(() -> new RingReader(other, false)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new RingWriter(other)).isInstanceOf(IllegalArgumentException.class);
    }

    // ---- a writer that writes what cannot be

    private void assertReaderIsBrokenForGood() {
        assertThat(poll(9)).isZero();
        assertThat(reader.isBroken()).isTrue();
        setRecord(head() & CAPACITY - 1, SMALLEST, SMALLEST);
        setTail(head() + RingLayout.ALIGNMENT);
        assertThat(poll(9)).as("frames after the number was corrected").isZero();
        assertThat(reader.isBroken()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            longs = {-1, -64, Long.MIN_VALUE, Long.MAX_VALUE, CAPACITY + 1, CAPACITY + 64, 1L << 32, 1, 63, -CAPACITY})
    void tailThatCannotBeBreaksTheRing(long distance) {
        advanceTo(128);
        setRecord(128, 1, 1);
        setTail(128 + distance);
        assertReaderIsBrokenForGood();
        assertThat(head()).isEqualTo(128);
    }

    static Stream<Arguments> lengthsThatCannotBe() {
        int[] bytes = {0, -2, Integer.MIN_VALUE, Integer.MAX_VALUE, CAPACITY, CAPACITY + 1, 4 * 64 - 15, 4 * 64, 1 << 20
        };
        int[] frameBytes = {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, SendBurst.MAX_FRAME_BYTES + 1};
        return Stream.concat(
                Arrays.stream(bytes).mapToObj(each -> Arguments.of(each, 1)),
                Arrays.stream(frameBytes).mapToObj(each -> Arguments.of(SMALLEST, each)));
    }

    @ParameterizedTest
    @MethodSource("lengthsThatCannotBe")
    void lengthThatCannotBeBreaksTheRing(int bytes, int frameBytes) {
        advanceTo(64);
        setRecord(64, bytes, frameBytes);
        setTail(64 + 4 * 64);
        assertReaderIsBrokenForGood();
    }

    /** The tail permits the record, but it would end behind the memory. */
    @Test
    void recordBeyondTheEndBreaksTheRing() {
        advanceTo(CAPACITY - 64);
        setRecord(CAPACITY - 64, SMALLEST + 1, SMALLEST + 1);
        setTail(CAPACITY + 64);
        assertReaderIsBrokenForGood();
    }

    static Stream<Arguments> paddingAtWrongPlaces() {
        return Stream.of(
                Arguments.of("at the start of a full ring", 0, CAPACITY),
                Arguments.of("at the start", 0, 64),
                Arguments.of("not at the end", 64, 64),
                Arguments.of("with nothing behind it", CAPACITY - 64, 64),
                Arguments.of("before the tail has reached the end", CAPACITY - 128, 64));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("paddingAtWrongPlaces")
    void paddingAtAWrongPlaceBreaksTheRing(String name, long at, long available) {
        advanceTo(at);
        setRecord(at, RingLayout.PADDING, SMALLEST);
        setTail(at + available);
        assertReaderIsBrokenForGood();
        assertThat(head()).as(name).isEqualTo(at);
    }

    @Test
    void paddingAfterPaddingBreaksTheRing() {
        advanceTo(CAPACITY - 64);
        setRecord(CAPACITY - 64, RingLayout.PADDING, 0);
        setRecord(0, RingLayout.PADDING, 0);
        setTail(2 * CAPACITY - 64);
        assertReaderIsBrokenForGood();
    }

    @Test
    void framesBeforeWhatCannotBeAreRead() {
        assertThat(write(SMALLEST, 1)).isTrue();
        assertThat(write(SMALLEST, 2, 3)).isTrue();
        setRecord(tail(), 0, 0);
        setTail(tail() + 64);
        assertThat(pollAll()).isEqualTo("1 2 3");
        assertThat(reader.isBroken()).isTrue();
    }

    /** The lengths of a record are read once: its frames are those that it had at that time. */
    @Test
    void lengthThatChangesWhileARecordIsReadHasNoEffect() {
        assertThat(write(SMALLEST, 1, 2)).isTrue();
        assertThat(poll(1)).isEqualTo(1);
        setRecord(0, Integer.MAX_VALUE, Integer.MAX_VALUE);
        assertThat(poll(9)).isEqualTo(1);
        assertThat(Frames.bytes(received.frame(0))).isEqualTo(Frames.filled(SMALLEST, 2));
        assertThat(poll(9)).isZero();
        assertThat(reader.isBroken()).isFalse();
    }

    @Test
    void otherFieldsOfARecordMayHaveAnyValue() {
        setRecord(0, SMALLEST, 1);
        memory.set(JAVA_INT, RingLayout.RECORDS + RingLayout.SOURCE_PORT, -2);
        memory.set(JAVA_INT, RingLayout.RECORDS + RingLayout.TRAFFIC_CLASS, -1);
        setTail(64);
        assertThat(poll(64)).as("at most so many").isEqualTo(32);
        assertThat(poll(64)).isEqualTo(SMALLEST - 32);
        new Expected(ByteBuffer.wrap(new byte[1]), 0xfffe, 0xff, true, SMALLEST - 1)
                .assertIs(received.frame(SMALLEST - 33));
    }

    // ---- a reader that writes what cannot be

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, CAPACITY + 193, Long.MAX_VALUE})
    void headThatCannotBeBreaksTheRing(long head) {
        assertThat(write(SMALLEST, 1)).isTrue();
        assertThat(write(SMALLEST, 1)).isTrue();
        assertThat(pollAll()).isEqualTo("1 1");
        fill(); // learns that the head is 128
        setHead(192);
        assertThat(write(SMALLEST, 2)).isTrue();
        setHead(head);
        byte[] before = contents();
        assertThat(write(SMALLEST, 3)).isFalse();
        assertThat(writer.isBroken()).isTrue();
        assertThat(contents()).isEqualTo(before);
    }

    @Test
    void nothingIsWrittenToABrokenRing() {
        while (write(1000, 1, 1, 1, 1)) {}
        setHead(-1);
        assertThat(write(1000, 1, 1, 1, 1)).isFalse();
        assertThat(writer.isBroken()).isTrue();
        byte[] before = contents();
        assertThat(write(SMALLEST, 2)).as("a burst that there is room for").isFalse();
        setHead(tail());
        assertThat(write(SMALLEST, 2)).as("after the head was corrected").isFalse();
        assertThat(contents()).as("but for the head").startsWith(Arrays.copyOf(before, RingLayout.HEAD));
    }

    @Test
    void writerDoesNotUseWhatItHasWritten() {
        assertThat(write(SMALLEST, 1)).isTrue();
        memory.asSlice(RingLayout.RECORDS).fill((byte) 0xff);
        setTail(-1);
        assertThat(write(SMALLEST, 2)).isTrue();
        assertThat(tail()).isEqualTo(128);
        assertThat(writer.isBroken()).isFalse();
    }

    // ---- waiting

    @Test
    void readerThatWaitsIsWokenOnce() {
        assertThat(reader.beginWait()).isTrue();
        assertThat(write(SMALLEST, 1)).isTrue();
        assertThat(writer.mustWakeReader()).isTrue();
        assertThat(write(SMALLEST, 2)).isTrue();
        assertThat(writer.mustWakeReader()).isFalse();
    }

    @Test
    void readerThatDoesNotWaitIsNotWoken() {
        assertThat(write(SMALLEST, 1)).isTrue();
        assertThat(writer.mustWakeReader()).isFalse();
        assertThat(pollAll()).isEqualTo("1");
        assertThat(reader.beginWait()).isTrue();
        reader.endWait();
        assertThat(write(SMALLEST, 2)).isTrue();
        assertThat(writer.mustWakeReader()).isFalse();
    }

    @Test
    void readerMustNotWaitWhileSomethingIsPending() {
        assertThat(write(SMALLEST, 1, 2)).isTrue();
        assertThat(reader.beginWait()).as("nothing read").isFalse();
        assertThat(poll(1)).isEqualTo(1);
        assertThat(reader.beginWait()).as("half a record read").isFalse();
        assertThat(poll(1)).isEqualTo(1);
        assertThat(reader.beginWait()).as("everything read").isTrue();
    }

    /** A reader that waits for a broken ring would not learn that it is. */
    @Test
    void readerDoesNotWaitForATailThatCannotBe() {
        setTail(-64);
        assertThat(reader.beginWait()).isFalse();
        assertThat(poll(1)).isZero();
        assertThat(reader.isBroken()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 2, 0x100, Integer.MIN_VALUE})
    void flagThatCannotBeWakesNobody(int flag) {
        memory.set(JAVA_INT, RingLayout.ASLEEP, flag);
        assertThat(write(SMALLEST, 1)).isTrue();
        assertThat(writer.mustWakeReader()).isFalse();
    }
}
