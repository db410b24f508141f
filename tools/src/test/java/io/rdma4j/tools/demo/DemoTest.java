package io.rdma4j.tools.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolEnvironment;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(90)
class DemoTest {
    @TempDir
    Path folder = Path.of("");

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int run(String... words) {
        return new Demo(folder)
                .run(
                        List.of(words),
                        new ToolEnvironment(
                                new PrintStream(out, true, StandardCharsets.UTF_8),
                                new PrintStream(err, true, StandardCharsets.UTF_8)));
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void demoShowsPingsAndLatenciesAndLeavesACapture() {
        assertThat(run("-C", "200")).as(out() + err).isZero();
        assertThat(out())
                .contains("server | server ping data: rdma-ping-2: CDEF", "client | ping data: rdma-ping-2: CDEF")
                .contains("200 pings came back byte for byte")
                .containsPattern("p50 +p90 +p99 +p99.9 +max")
                .contains("server | cmatose: disconnecting", "client | udaddy: connecting")
                .containsPattern("(?s)client \\| mckey: joined .*(server \\| data transfers complete.*){2}")
                .containsPattern("RDMA sockets +[0-9.]+ us +[0-9.]+ Gb/s\n +TCP sockets +[0-9.]+ us +[0-9.]+ Gb/s\n");
        assertThat(folder.resolve("rdma4j-demo.pcapng")).isNotEmptyFile();
    }

    @Test
    void addressOfAnotherHostIsAFailureThatIsExplained() {
        assertThat(run("-a", "192.0.2.77", "-C", "1")).isEqualTo(1);
        assertThat(out()).contains("rdma_bind_addr: ");
        assertThat(err.toString(StandardCharsets.UTF_8))
                .contains("the server ended with status 255; the lines above say why");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-C 0", "-S 22", "-S 65536", "-x", "operand"})
    void wrongOptionsPrintHelp(String words) {
        assertThat(run(words.split(" "))).isEqualTo(2);
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("usage: rdma4j demo");
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0 ns",
        "999, 999 ns",
        "1000, 1.0 us",
        "99900, 99.9 us",
        "258000, 258 us",
        "2000000, 2.0 ms",
        "148000000, 148 ms",
        "1500000000, 1.5 s"
    })
    void durationsHaveAboutThreeDigits(long nanos, String text) {
        assertThat(LatencyTable.duration(nanos)).isEqualTo(text);
    }
}
