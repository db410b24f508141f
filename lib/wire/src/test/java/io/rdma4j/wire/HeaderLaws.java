package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Six properties of every header codec. A subclass supplies golden bytes from a capture or the specification, the same
 * header as values, and the reserved bits (ignored by readers, written as zero).
 */
public abstract class HeaderLaws<H> {
    private static final byte FILL = (byte) 0xa5;
    private static final int MARGIN = 5;

    /** Creates the test. */
    protected HeaderLaws() {}

    /** Returns the golden bytes in hexadecimal, spaces allowed. Zeros are appended up to {@link #length}. */
    protected abstract String golden();

    /** Returns the header of the golden bytes. */
    protected abstract H header();

    /** Returns the length of the header in bytes. */
    protected abstract int length();

    /** Returns the reserved bits as {@code offset:mask offset:mask…}, both in hexadecimal. */
    protected abstract String reserved();

    /** Reads a header. */
    protected abstract H parse(MemorySegment s, long at);

    /** Writes a header. */
    protected abstract void emit(H header, MemorySegment s, long at);

    @Test
    void goldenBytesDecodeToTheHeader() {
        byte[] around = filled(length() + 2 * MARGIN);
        System.arraycopy(goldenBytes(), 0, around, MARGIN, length());
        assertThat(parse(MemorySegment.ofArray(around), MARGIN)).isEqualTo(header());
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment direct = arena.allocateFrom(ValueLayout.JAVA_BYTE, around);
            assertThat(parse(direct, MARGIN)).isEqualTo(header());
        }
    }

    @Test
    void theHeaderEncodesToTheGoldenBytes() {
        byte[] around = filled(length());
        emit(header(), MemorySegment.ofArray(around), 0);
        assertThat(hex(around)).isEqualTo(hex(goldenBytes()));
    }

    @Test
    void encodingWritesEveryByteAndNoAdjacentByte() {
        byte[] around = filled(length() + 2 * MARGIN);
        emit(header(), MemorySegment.ofArray(around), MARGIN);
        byte[] expected = filled(length() + 2 * MARGIN);
        System.arraycopy(goldenBytes(), 0, expected, MARGIN, length());
        assertThat(hex(around)).isEqualTo(hex(expected));
    }

    @Test
    void everyTruncationIsRejected() {
        for (int shorter = 0; shorter < length(); shorter++) {
            MemorySegment s = MemorySegment.ofArray(Arrays.copyOf(goldenBytes(), shorter));
            assertThatThrownBy(() -> parse(s, 0)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> emit(header(), s, 0)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void everyBitSurvivesOrIsReserved() {
        byte[] reserved = new byte[length()];
        for (String field : reserved().isEmpty() ? new String[0] : reserved().split(" ", -1)) {
            int colon = field.indexOf(':');
            reserved[Integer.parseInt(field, 0, colon, 16)] =
                    (byte) Integer.parseInt(field, colon + 1, field.length(), 16);
        }
        for (int bit = 0; bit < length() * 8; bit++) {
            byte[] changed = goldenBytes();
            changed[bit / 8] ^= (byte) (1 << bit % 8);
            byte[] again = filled(length());
            emit(parse(MemorySegment.ofArray(changed), 0), MemorySegment.ofArray(again), 0);
            boolean isReserved = (reserved[bit / 8] & 1 << bit % 8) != 0;
            assertThat(hex(again))
                    .as("byte %d, bit %d", bit / 8, bit % 8)
                    .isEqualTo(hex(isReserved ? goldenBytes() : changed));
        }
    }

    @Test
    void anyBytesDecodeAndTheirHeaderSurvives() {
        Random random = new Random(42);
        byte[] any = new byte[length()];
        for (int run = 0; run < 1000; run++) {
            if (run < 256) {
                Arrays.fill(any, (byte) run);
            } else {
                random.nextBytes(any);
            }
            H header = parse(MemorySegment.ofArray(any), 0);
            byte[] again = filled(length());
            emit(header, MemorySegment.ofArray(again), 0);
            assertThat(parse(MemorySegment.ofArray(again), 0)).isEqualTo(header);
        }
    }

    /** Returns the golden bytes, padded to the length of the header. */
    protected final byte[] goldenBytes() {
        return Arrays.copyOf(HexFormat.of().parseHex(golden().replace(" ", "")), length());
    }

    /** Returns the golden bytes as a segment. */
    protected final MemorySegment goldenSegment() {
        return MemorySegment.ofArray(goldenBytes());
    }

    /** Returns a segment of the header's length, filled with a pattern, for writers. */
    protected final MemorySegment scratch() {
        return MemorySegment.ofArray(filled(length()));
    }

    /** Returns bytes in hexadecimal. */
    protected static String hex(byte[] bytes) {
        return HexFormat.of().formatHex(bytes);
    }

    /** Returns the bytes of a segment in hexadecimal. */
    protected static String hex(MemorySegment s) {
        return hex(s.toArray(ValueLayout.JAVA_BYTE));
    }

    private static byte[] filled(int length) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, FILL);
        return bytes;
    }
}
