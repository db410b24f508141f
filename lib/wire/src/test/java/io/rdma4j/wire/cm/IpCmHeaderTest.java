package io.rdma4j.wire.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.value.Gid;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class IpCmHeaderTest {
    /** Capture rping #4. */
    private static final String IPV4 =
            "004088fc" + "0000000000000000000000000a580001" + "0000000000000000000000000a580002";

    /** Capture rping6 #3. */
    private static final String IPV6 =
            "0060af6b" + "fe80000000000000505400fffe880001" + "fe80000000000000505400fffe880002";

    private static final IpCmHeader V4 = new IpCmHeader(Gid.ofIpv4(0x0a58_0001), 35068, Gid.ofIpv4(0x0a58_0002));
    private static final IpCmHeader V6 = new IpCmHeader(
            new Gid(0xfe80_0000_0000_0000L, 0x5054_00ff_fe88_0001L),
            44907,
            new Gid(0xfe80_0000_0000_0000L, 0x5054_00ff_fe88_0002L));

    @Test
    void goldenBytesDecodeToTheHeader() {
        assertThat(parse(IPV4)).isEqualTo(V4);
        assertThat(V4.isIpv4()).isTrue();
        assertThat(parse(IPV6)).isEqualTo(V6);
        assertThat(V6.isIpv4()).isFalse();
        assertThat(IpCmHeader.parse(MemorySegment.ofArray(HexFormat.of().parseHex("a5" + IPV6)), 1))
                .isEqualTo(V6);
    }

    @Test
    void theHeaderEncodesToTheGoldenBytesAndNoAdjacentByte() {
        assertThat(emitted(V4)).isEqualTo("a5a5" + IPV4 + "a5a5");
        assertThat(emitted(V6)).isEqualTo("a5a5" + IPV6 + "a5a5");
    }

    @Test
    void theDataOfTheApplicationFollow() {
        PrivateData data = V4.with(PrivateData.of((byte) 1, (byte) 2));
        assertThat(data).hasToString(IPV4 + "0102");
        assertThat(data.length()).isEqualTo(38);
        assertThat(data.from(IpCmHeader.LENGTH)).isEqualTo(PrivateData.of((byte) 1, (byte) 2));
    }

    @Test
    void everyTruncationIsNoHeader() {
        byte[] golden = HexFormat.of().parseHex(IPV4);
        for (int length = 0; length < golden.length; length++) {
            assertThat(IpCmHeader.parse(PrivateData.of(Arrays.copyOf(golden, length))))
                    .isNull();
        }
        assertThat(IpCmHeader.parse(PrivateData.of(Arrays.copyOf(golden, 92)))).isEqualTo(V4);
    }

    @Test
    void everyOtherVersionIsNoHeader() {
        for (int version = 1; version < 256; version++) {
            assertThat(parse("%02x".formatted(version) + IPV4.substring(2))).isNull();
        }
        for (int ipVersion = 0; ipVersion < 256; ipVersion++) {
            String text = "00%02x".formatted(ipVersion);
            assertThat(parse(text + IPV4.substring(4)) != null)
                    .as("IP version byte %02x on IPv4 addresses", ipVersion)
                    .isEqualTo(ipVersion >> 4 == 4 || ipVersion >> 4 == 6);
            assertThat(parse(text + IPV6.substring(4)) != null)
                    .as("IP version byte %02x on IPv6 addresses", ipVersion)
                    .isEqualTo(ipVersion >> 4 == 6);
        }
    }

    @Test
    void anIpv4AddressIsPrecededByZeros() {
        for (int start : new int[] {4, 20}) {
            for (int at = start; at < start + 12; at++) {
                byte[] bytes = HexFormat.of().parseHex(IPV4);
                bytes[at] = 1;
                assertThat(IpCmHeader.parse(PrivateData.of(bytes)))
                        .as("byte %d", at)
                        .isNull();
            }
        }
    }

    @Test
    void anIpv4MappedAddressIsNotAnIpv6Address() {
        String mapped = "00000000000000000000ffff0a580001";
        assertThat(parse("006088fc" + mapped + mapped)).isNull();
        assertThat(parse("006088fc" + mapped + "fe80000000000000505400fffe880002"))
                .isNull();
    }

    @Test
    void addressesAreOfOneFamily() {
        Gid v4 = Gid.ofIpv4(1);
        Gid v6 = new Gid(1, 1);
        assertThatThrownBy(() -> new IpCmHeader(v4, 1, v6))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("addresses of different families: 0.0.0.1 and ::1:0:0:0:1");
    }

    @Test
    void anyBytesAreNoHeaderOrOneThatReencodes() {
        Random random = new Random(3);
        byte[] bytes = new byte[IpCmHeader.LENGTH];
        for (int run = 0; run < 5000; run++) {
            random.nextBytes(bytes);
            bytes[0] = (byte) (run & 1);
            IpCmHeader header = IpCmHeader.parse(PrivateData.of(bytes));
            if (header != null) {
                assertThat(IpCmHeader.parse(header.with(PrivateData.EMPTY))).isEqualTo(header);
            }
        }
    }

    private static @Nullable IpCmHeader parse(String hex) {
        return IpCmHeader.parse(PrivateData.of(HexFormat.of().parseHex(hex)));
    }

    private static String emitted(IpCmHeader header) {
        byte[] bytes = new byte[IpCmHeader.LENGTH + 4];
        Arrays.fill(bytes, (byte) 0xa5);
        header.emit(MemorySegment.ofArray(bytes), 2);
        return HexFormat.of().formatHex(bytes);
    }
}
