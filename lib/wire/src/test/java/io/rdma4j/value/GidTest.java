package io.rdma4j.value;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class GidTest {
    @ParameterizedTest
    @CsvSource({
        "0000000000000000, 0000ffff0a580001, 10.88.0.1",
        "0000000000000000, 0000ffffffffffff, 255.255.255.255",
        "0000000000000000, 0000000000000000, ::",
        "0000000000000000, 0000000000000001, ::1",
        "fe80000000000000, 505400fffe880001, fe80::5054:ff:fe88:1",
        "20010db800000000, 0001000000000001, 2001:db8::1:0:0:1",
        "20010db800000001, 0001000100010001, 2001:db8:0:1:1:1:1:1",
        "0001000200030004, 0005000600070008, 1:2:3:4:5:6:7:8",
        "0001000000000000, 0000000000000000, 1::",
        "0000000000000001, 0002000300040005, ::1:2:3:4:5"
    })
    void addressTextIsTheCanonicalForm(String high, String low, String text) {
        Gid gid = new Gid(Long.parseUnsignedLong(high, 16), Long.parseUnsignedLong(low, 16));
        assertThat(gid.addressText()).isEqualTo(text);
        assertThat(gid.isIpv4()).isEqualTo(text.contains("."));
    }

    @Test
    void anIpv4AddressIsRecovered() {
        assertThat(Gid.ofIpv4(0xffff_fffe).ipv4()).isEqualTo(0xffff_fffe);
        assertThat(Gid.ZERO.isIpv4()).isFalse();
    }

    @Test
    void onlyMappedAddressesAreIpv4() {
        assertThat(Gid.isIpv4(0, Gid.ipv4Low(0))).isTrue();
        assertThat(Gid.isIpv4(0, Gid.ipv4Low(-1))).isTrue();
        assertThat(Gid.isIpv4(0, 1)).isFalse();
        assertThat(Gid.isIpv4(0, 0xfffe_0000_0001L)).isFalse();
        assertThat(Gid.isIpv4(0, 0x1_ffff_0000_0001L)).isFalse();
    }

    @Test
    void textHasAllGroups() {
        assertThat(Gid.ofIpv4(0x0a58_0001)).hasToString("0000:0000:0000:0000:0000:ffff:0a58:0001");
        assertThat(new Gid(0xfe80L << 48, 1)).hasToString("fe80:0000:0000:0000:0000:0000:0000:0001");
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.88.0.1", "255.255.255.255", "::1", "fe80::5054:ff:fe88:1", "2001:db8::1:0:0:1"})
    void addressIsRecovered(String text) {
        InetAddress address = InetAddress.ofLiteral(text);
        Gid gid = Gid.of(address);
        assertThat(gid.toInetAddress()).isEqualTo(address);
        assertThat(gid.addressText()).isEqualTo(text);
        assertThat(gid.isLinkLocal()).isEqualTo(address.isLinkLocalAddress());
    }

    @ParameterizedTest
    @CsvSource({
        "224.0.0.1, true",
        "239.1.2.3, true",
        "240.0.0.1, false",
        "10.0.0.1, false",
        "ff02::1, true",
        "fe80::1, false"
    })
    void multicastAddressesAreRecognized(String text, boolean isMulticast) {
        assertThat(Gid.of(InetAddress.ofLiteral(text)).isMulticast()).isEqualTo(isMulticast);
    }
}
