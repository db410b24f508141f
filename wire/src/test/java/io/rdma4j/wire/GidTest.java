package io.rdma4j.wire;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Golden bytes: capture rping #4, GID of the active side in its REQ. */
class GidTest extends HeaderLaws<Gid> {
    @Override
    protected String golden() {
        return "00000000000000000000ffff0a580001";
    }

    @Override
    protected Gid header() {
        return Gid.ofIpv4(0x0a58_0001);
    }

    @Override
    protected int length() {
        return Gid.LENGTH;
    }

    @Override
    protected String reserved() {
        return "";
    }

    @Override
    protected Gid parse(MemorySegment s, long at) {
        return Gid.parse(s, at);
    }

    @Override
    protected void emit(Gid header, MemorySegment s, long at) {
        header.emit(s, at);
    }

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
    void textIsTheCanonicalFormOfTheAddress(String high, String low, String text) {
        Gid gid = new Gid(Long.parseUnsignedLong(high, 16), Long.parseUnsignedLong(low, 16));
        assertThat(gid).hasToString(text);
        assertThat(gid.isIpv4()).isEqualTo(text.contains("."));
    }

    @Test
    void anIpv4AddressIsRecovered() {
        assertThat(Gid.ofIpv4(0xffff_fffe).ipv4()).isEqualTo(0xffff_fffe);
        assertThat(Gid.ZERO.isIpv4()).isFalse();
    }
}
