package io.rdma4j.cm.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.AddressLookupException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks that exactly the texts that glibc's getaddrinfo accepts with AI_NUMERICHOST are addresses. */
class HostLookupTest {
    @ParameterizedTest
    @CsvSource({
        "192.0.2.1, 192.0.2.1",
        "127.1, 127.0.0.1",
        "1.2.3, 1.2.0.3",
        "0x7f000001, 127.0.0.1",
        "0x7f.1, 127.0.0.1",
        "0177.0.0.1, 127.0.0.1",
        "2130706433, 127.0.0.1",
        "0, 0.0.0.0",
        "::1, 0:0:0:0:0:0:0:1",
        "::1%1, 0:0:0:0:0:0:0:1%1",
        "fe80::1%1, fe80:0:0:0:0:0:0:1%1"
    })
    void addressesAreParsedLikeGetaddrinfo(String text, String address) {
        assertThat(HostLookup.first("test", text, null, true).getHostAddress()).isEqualTo(address);
        assertThat(HostLookup.first("test", text, null, false).getHostAddress()).isEqualTo(address);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[::1]",
                "[192.0.2.1]",
                "::1%lo",
                "::1%",
                "2001:db8::1%lo",
                "ff05::1%lo",
                "fe80::1%no-such-interface",
                "127.0.0.1%lo",
                " 127.0.0.1",
                "127.0.0.1 ",
                "4294967296 ",
                "08.1.1.1 ",
                "1::2::3"
            })
    void textsRefusedByGetaddrinfoAreRefusedWithoutTheResolver(String text) {
        for (boolean numeric : new boolean[] {true, false}) {
            assertThatThrownBy(() -> HostLookup.first("test", text, null, numeric))
                    .isInstanceOfSatisfying(
                            AddressLookupException.class,
                            refused ->
                                    assertThat(refused.reason()).isEqualTo(AddressLookupException.Reason.NAME_UNKNOWN));
        }
    }

    @Test
    void nameIsNotANumericHost() {
        assertThatThrownBy(() -> HostLookup.first("test", "localhost", null, true))
                .isInstanceOf(AddressLookupException.class);
        assertThat(HostLookup.first("test", "localhost", null, false).isLoopbackAddress())
                .isTrue();
    }
}
