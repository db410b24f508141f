package io.rdma4j.tools.rping;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.tools.ToolEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What rping -V does with data that did not come back as they were sent. */
class RpingValidationTest {
    private static final int SIZE_BYTES = 100;

    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final RpingReport report = new RpingReport(
            new ToolEnvironment(new PrintStream(err, true, UTF_8), new PrintStream(err, true, UTF_8)), false);

    private static MemorySegment ping() {
        MemorySegment memory = MemorySegment.ofArray(new byte[SIZE_BYTES]);
        RpingPayload.fill(memory, 7);
        return memory;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 42, SIZE_BYTES - 1})
    void aPingThatComesBackOtherwiseEndsTheRunWithMinusOne(int wrong) {
        MemorySegment received = ping();
        received.asByteBuffer().put(wrong, (byte) '?');
        assertThatThrownBy(() -> RpingClient.validate(ping(), received, 7, report))
                .isInstanceOfSatisfying(
                        RpingFailure.class, end -> assertThat(end.status()).isEqualTo(-1));
        assertThat(err.toString(UTF_8)).startsWith("data mismatch!\n").contains("ping 7: byte " + wrong + " of ");
    }

    @Test
    void aPingThatComesBackAsItWasSentIsSilent() {
        assertThatCode(() -> RpingClient.validate(ping(), ping(), 7, report)).doesNotThrowAnyException();
        assertThat(err.toString(UTF_8)).isEmpty();
    }
}
