package io.rdma4j.wire.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Golden bytes written by hand from struct ds_header of librdmacm. */
class DatagramHeaderTest {
    private static final String IPV4 = "0408" + "1c06" + "c0000201";
    private static final String IPV6 = "0618" + "1c06" + "000abcde" + "20010db8000000000000000000000001";
    private static final DatagramHeader OF_IPV4 = new DatagramHeader(7174, 0, 0, 0xffff_c000_0201L);
    private static final DatagramHeader OF_IPV6 = new DatagramHeader(7174, 0xabcde, 0x2001_0db8_0000_0000L, 1);

    private static String written(DatagramHeader header) {
        byte[] out = new byte[header.length()];
        java.util.Arrays.fill(out, (byte) 0xa5);
        header.write(ByteBuffer.wrap(out), 0);
        return HexFormat.of().formatHex(out);
    }

    private static ByteBuffer bytes(String hex) {
        return ByteBuffer.wrap(HexFormat.of().parseHex(hex));
    }

    @Test
    void goldenBytesAreReadAtAnyOffset() {
        assertThat(DatagramHeader.parse(bytes("ffff" + IPV4 + "00"), 2, 9)).isEqualTo(OF_IPV4);
        assertThat(DatagramHeader.parse(bytes(IPV6), 0, 24)).isEqualTo(OF_IPV6);
    }

    @Test
    void goldenBytesAreWritten() {
        assertThat(written(OF_IPV4)).isEqualTo(IPV4);
        assertThat(written(OF_IPV6)).isEqualTo(IPV6);
    }

    @ParameterizedTest
    @ValueSource(strings = {IPV4, IPV6})
    void everyTruncationIsRejected(String golden) {
        int all = golden.length() / 2;
        for (int available = -1; available < all; available++) {
            assertThat(DatagramHeader.parse(bytes(golden + "0000"), 0, available))
                    .isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "0508" + "1c06" + "c0000201" + "00000000000000000000000000000000",
                "0418" + "1c06" + "c0000201" + "00000000000000000000000000000000",
                "0608" + "1c06" + "c0000201" + "00000000000000000000000000000000",
                "0618" + "1c06" + "00000000" + "00000000000000000000ffffc0000201"
            })
    void inconsistentHeadersAreRejected(String hex) {
        assertThat(DatagramHeader.parse(bytes(hex), 0, hex.length() / 2)).isNull();
    }
}
