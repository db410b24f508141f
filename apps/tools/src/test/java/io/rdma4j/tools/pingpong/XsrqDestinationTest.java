package io.rdma4j.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class XsrqDestinationTest {
    private static final XsrqDestination ONE =
            new XsrqDestination(0, 0x13, 0x14, 0xabcdef, 0x77, new Gid(0, 0xffff_0a58_0002L));
    private static final String TEXT = "0000:000013:000014:abcdef:000077:00000000000000000000ffff0a580002";

    @Test
    void textMatchesC() {
        assertThat(ONE.toText()).isEqualTo(TEXT).hasSize(XsrqDestination.TEXT_BYTES - 1);
        assertThat(ONE)
                .hasToString("LID 0000, QPN RECV 000013 SEND 000014, PSN abcdef, SRQN 000077, GID ::ffff:10.88.0.2");
    }

    @Test
    void textIsParsed() {
        assertThat(XsrqDestination.parse(TEXT)).contains(ONE);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "0000:000013:abcdef:00000000000000000000ffff0a580002",
                "0000:000013:000014:abcdef:00007g:00000000000000000000ffff0a580002"
            })
    void malformedTextIsRejected(String text) {
        assertThat(XsrqDestination.parse(text)).isEmpty();
    }
}
