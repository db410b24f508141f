package io.rdma4j.tools.pingpong;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.value.Gid;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PingPongDestinationTest {
    private static final PingPongDestination ONE =
            new PingPongDestination(0, 0x13, 0xabcdef, new Gid(0, 0xffff_0a58_0002L));
    private static final String TEXT = "0000:000013:abcdef:00000000000000000000ffff0a580002";

    @Test
    void textMatchesC() {
        assertThat(ONE.toText()).isEqualTo(TEXT).hasSize(PingPongDestination.TEXT_BYTES - 1);
        assertThat(ONE).hasToString("LID 0x0000, QPN 0x000013, PSN 0xabcdef, GID ::ffff:10.88.0.2");
    }

    @Test
    void textIsParsed() {
        assertThat(PingPongDestination.parse(TEXT)).contains(ONE);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0000:000013:abcdef", "0000:000013:abcdeg:00000000000000000000ffff0a580002"})
    void malformedTextIsRejected(String text) {
        assertThat(PingPongDestination.parse(text)).isEmpty();
    }
}
