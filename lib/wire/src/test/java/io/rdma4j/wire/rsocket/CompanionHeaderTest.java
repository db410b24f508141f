package io.rdma4j.wire.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Golden bytes written by hand from struct ds_udp_header of librdmacm. */
class CompanionHeaderTest {
    private static final String IPV4 = "55555555" + "04001000" + "00abcdef" + "c0000201";
    private static final String IPV6 = "55555555" + "06071c00" + "00000011" + "20010db8000000000000000000000001";
    private static final CompanionHeader DATA_MESSAGE =
            new CompanionHeader(CompanionHeader.DATA, 0xabcdef, 0, 0xffff_c000_0201L);
    private static final CompanionHeader CONTROL_MESSAGE =
            new CompanionHeader(CompanionHeader.CONTROL, 0x11, 0x2001_0db8_0000_0000L, 1);

    private static ByteBuffer bytes(String hex) {
        return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
    }

    private static String written(CompanionHeader header) {
        byte[] out = new byte[header.length()];
        java.util.Arrays.fill(out, (byte) 0xa5);
        header.write(ByteBuffer.wrap(out));
        return HexFormat.of().formatHex(out);
    }

    @Test
    void goldenBytesAreReadAndThePositionAdvances() {
        ByteBuffer in = bytes(IPV4 + "0102");
        assertThat(CompanionHeader.parse(in)).isEqualTo(DATA_MESSAGE);
        assertThat(in.remaining()).isEqualTo(2);
        assertThat(CompanionHeader.parse(bytes(IPV6))).isEqualTo(CONTROL_MESSAGE);
    }

    @Test
    void goldenBytesAreWritten() {
        assertThat(written(DATA_MESSAGE)).isEqualTo(IPV4);
        assertThat(written(CONTROL_MESSAGE)).isEqualTo(IPV6);
    }

    @Test
    void theUpperBitsOfTheNumberFieldAreIgnored() {
        assertThat(CompanionHeader.parse(bytes(IPV4.replace("00abcdef", "ffabcdef"))))
                .isEqualTo(DATA_MESSAGE);
    }

    @ParameterizedTest
    @ValueSource(strings = {IPV4, IPV6})
    void everyTruncationIsRejected(String golden) {
        byte[] all = HexFormat.of().parseHex(golden);
        for (int length = 0; length < all.length; length++) {
            ByteBuffer in = ByteBuffer.wrap(all, 0, length);
            assertThat(CompanionHeader.parse(in)).isNull();
            assertThat(in.position()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "55555554" + "04001000" + "00abcdef" + "c0000201",
                "55555555" + "05001000" + "00abcdef" + "c0000201",
                "55555555" + "04011000" + "00abcdef" + "c0000201",
                "55555555" + "04001c00" + "00abcdef" + "c0000201" + "000000000000000000000000",
                "55555555" + "06001000" + "00abcdef" + "20010db8000000000000000000000001",
                "55555555" + "06001c00" + "00abcdef" + "00000000000000000000ffffc0000201"
            })
    void inconsistentHeadersAreRejected(String hex) {
        assertThat(CompanionHeader.parse(bytes(hex))).isNull();
    }
}
