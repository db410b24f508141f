package io.rdma4j.harness.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The lines that rping prints. */
class RpingTest {
    @Test
    void linesAreThoseOfTheCTool() {
        List<String> lines = Rping.pingLines("ping data: ", 64, 60);
        assertThat(lines)
                .hasSize(60)
                .startsWith(
                        "ping data: rdma-ping-0: ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr",
                        "ping data: rdma-ping-1: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrs")
                .endsWith("ping data: rdma-ping-59: BCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqr");
        assertThat(Rping.pingLines("", 65535, 1)).first().asString().hasSize(65534);
    }
}
