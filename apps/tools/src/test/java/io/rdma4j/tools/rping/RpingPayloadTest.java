package io.rdma4j.tools.rping;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RpingPayloadTest {
    private static byte[] filled(int size, int ping) {
        byte[] bytes = new byte[size];
        RpingPayload.fill(MemorySegment.ofArray(bytes), ping);
        return bytes;
    }

    private static String text(int size, int ping) {
        byte[] bytes = filled(size, ping);
        return new String(bytes, 0, size - 1, StandardCharsets.US_ASCII);
    }

    /** The data of the first RDMA READ in a capture of C's rping over Linux's rxe. */
    @Test
    void firstPingEqualsTheCapturedPing() {
        assertThat(filled(64, 0))
                .isEqualTo(HexFormat.of()
                        .parseHex("72646d612d70696e672d303a2041424344454647"
                                + "48494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f60"
                                + "6162636465666768696a6b6c6d6e6f70717200"));
    }

    @Test
    void sequenceStartsOneCharacterLaterWithEachPingAndWraps() {
        assertThat(text(64, 1)).startsWith("rdma-ping-1: BCDE").endsWith("pqrs");
        assertThat(text(40, 57)).startsWith("rdma-ping-57: zABC");
        assertThat(text(40, 58)).startsWith("rdma-ping-58: ABCD");
        assertThat(text(100, 9)).contains("xyzABC");
    }

    /** A client without a limit reaches this number after some days. It becomes negative, as in C. */
    @Test
    void sequenceContinuesWhenTheNumberOfPingsOverflows() {
        assertThat(text(40, Integer.MAX_VALUE)).startsWith("rdma-ping-2147483647: HIJK");
        assertThat(text(40, Integer.MIN_VALUE)).startsWith("rdma-ping--2147483648: IJKL");
    }

    @Test
    void smallestSizeFitsTheLargestNumber() {
        assertThat(text(RpingOptions.MINIMUM_SIZE_BYTES, Integer.MAX_VALUE)).isEqualTo("rdma-ping-2147483647: ");
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 10, 13, 14})
    void textIsTruncatedToASmallSizeAndEndsWithZero(int size) {
        byte[] bytes = filled(size, 0);
        if (size > 0) {
            assertThat(bytes[size - 1]).isZero();
            assertThat("rdma-ping-0: A").startsWith(text(size, 0));
        }
        assertThat(RpingPayload.length(MemorySegment.ofArray(bytes))).isEqualTo(Math.max(0, size - 1));
    }

    @Test
    void lineIsThePrefixAndTheBytesBeforeTheFirstZero() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
        byte[] data = {'a', (byte) 0xe4, 'b', 0, 'c'};
        RpingPayload.print(out, "ping data: ", MemorySegment.ofArray(data));
        assertThat(bytes.toByteArray())
                .isEqualTo(("ping data: a\u00e4b" + System.lineSeparator()).getBytes(StandardCharsets.ISO_8859_1));
    }
}
