package io.rdma4j.tools.perftest;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PerftestDestinationTest {
    private static final Gid GID = Gid.of(InetAddress.ofLiteral("10.88.0.2"));
    private static final PerftestDestination DESTINATION =
            new PerftestDestination(1, 16, 0x13, 0x905785, 0x1234, 0x5678_9abcL, GID, 1, 0);

    @Test
    void structureMatchesPerftest() {
        byte[] bytes = DESTINATION.toBytes(PerftestDestination.bytes(6.28));
        assertThat(HexFormat.of().formatHex(bytes))
                .isEqualTo("0000000100000010000000130090578500001234" + "00000000" + "0000000056789abc"
                        + "00000000000000000000ffff0a580002" + "00000000" + "00000001");
        assertThat(PerftestDestination.ofBytes(bytes)).isEqualTo(DESTINATION);
    }

    @Test
    void structureHasAnotherAddressSinceVersion629() {
        byte[] bytes = DESTINATION.toBytes(PerftestDestination.bytes(6.29));
        assertThat(HexFormat.of().formatHex(bytes))
                .isEqualTo("0000000100000010000000130090578500001234" + "00000000" + "0000000056789abc"
                        + "0000000000000000" + "00000000000000000000ffff0a580002" + "00000000" + "00000001");
        assertThat(bytes).hasSize(PerftestDestination.MAX_BYTES);
        assertThat(PerftestDestination.ofBytes(bytes)).isEqualTo(DESTINATION);
    }

    @Test
    void textMatchesPerftest() {
        assertThat(new String(DESTINATION.toText(), StandardCharsets.ISO_8859_1))
                .isEqualTo("0001:0010:000013:905785:00001234:0000000056789abc:"
                        + "00:00:00:00:00:00:00:00:00:00:ff:ff:0a:58:00:02:00000000:\0")
                .hasSize(PerftestDestination.TEXT_BYTES);
        assertThat(PerftestDestination.ofText(DESTINATION.toText()))
                .isEqualTo(new PerftestDestination(1, 16, 0x13, 0x905785, 0x1234, 0x5678_9abcL, GID, 0, 0));
    }

    @Test
    void theSharedReceiveQueueIsExchanged() {
        PerftestDestination extended = new PerftestDestination(1, 16, 0x13, 0x905785, 0x1234, 7, GID, 0, 0xabcdef);
        assertThat(PerftestDestination.ofBytes(extended.toBytes(PerftestDestination.MAX_BYTES)))
                .isEqualTo(extended);
        assertThat(PerftestDestination.ofText(extended.toText())).isEqualTo(extended);
        assertThat(new String(extended.toText(), StandardCharsets.ISO_8859_1)).endsWith(":00abcdef:\0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "hello", "6.06", "::::::::::::::::::::::::::::::::::::::::::"})
    void malformedTextIsRejected(String text) {
        byte[] padded = new byte[PerftestDestination.TEXT_BYTES];
        System.arraycopy(text.getBytes(StandardCharsets.ISO_8859_1), 0, padded, 0, text.length());
        assertThat(PerftestDestination.ofText(padded)).isNull();
        assertThat(PerftestDestination.ofText(text.getBytes(StandardCharsets.ISO_8859_1)))
                .isNull();
    }

    @Test
    void linesMatchPerftest() {
        PerftestDestination destination =
                new PerftestDestination(0, 4, 0x13, 0x905785, 0x1234, 0x7f00_0000_1000L, GID, 1, 0);
        assertThat(destination.line("local", null)).isEqualTo(" local address: LID 0000 QPN 0x0013 PSN 0x905785");
        assertThat(destination.line("remote", MeasuredOperation.WRITE))
                .isEqualTo(" remote address: LID 0000 QPN 0x0013 PSN 0x905785 RKey 0x001234 VAddr 0x007f0000001000");
        assertThat(destination.line("local", MeasuredOperation.READ))
                .isEqualTo(" local address: LID 0000 QPN 0x0013 PSN 0x905785 OUT 0x04 RKey 0x001234 VAddr "
                        + "0x007f0000001000");
        assertThat(destination.line("local", MeasuredOperation.SEND))
                .isEqualTo(destination.line("local", MeasuredOperation.ATOMIC));
        assertThat(destination.gidLine()).isEqualTo(" GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:88:00:02");
    }
}
