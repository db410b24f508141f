package io.rdma4j.tools.rping;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.tools.command.ToolEnvironment;
import io.rdma4j.tools.command.ToolFailure;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the parser against the statuses and lines that rping of rdmacm-utils 44 printed. */
class RpingCommandLineTest {
    /** The output of {@code rping -h}. */
    private static final String USAGE = """
        rping -s [-vVd] [-S size] [-C count] [-a addr] [-p port]
        rping -c [-vVd] [-S size] [-C count] [-I addr] -a addr [-p port]
        	-c		client side
        	-I		Source address to bind to for client.
        	-s		server side.  To bind to any address with IPv6 use -a ::0
        	-v		display ping data to stdout
        	-V		validate ping data
        	-d		debug printfs
        	-S size 	ping data size
        	-C count	ping count times
        	-a addr		address
        	-p port		port
        	-P		persistent server mode allowing multiple connections
        	-q		use self-created, self-modified QP
        """;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final ToolEnvironment environment = new ToolEnvironment(
            new PrintStream(out, true, StandardCharsets.UTF_8), new PrintStream(err, true, StandardCharsets.UTF_8));

    private RpingOptions parse(String words) throws ToolFailure {
        return RpingCommandLine.parse(words.isEmpty() ? List.of() : List.of(words.split(" +")), environment);
    }

    private String out() {
        return out.toString(StandardCharsets.UTF_8);
    }

    private String err() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "-h", "-x", "-S", "-c -t 3", "-- -s", "-s --help", "-v", "-vVq -C 1"})
    void invalidCommandLinePrintsUsageAndFailsWith22(String words) {
        assertThatExceptionOfType(ToolFailure.class)
                .isThrownBy(() -> parse(words))
                .returns(22, ToolFailure::status);
        assertThat(out()).isEqualTo(USAGE);
        assertThat(err()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-s -S 10     | Invalid size 10 (valid range is 23 to 65536)",
                "-s -S 22     | Invalid size 22 (valid range is 23 to 65536)",
                "-s -S 65536  | Invalid size 65536 (valid range is 23 to 65536)",
                "-s -S 12x    | Invalid size 12 (valid range is 23 to 65536)",
                "-s -C -1     | Invalid count -1",
                "-a 127.0.0.1 -s -S 0 -C 5 | Invalid size 0 (valid range is 23 to 65536)",
            })
    void valueOutOfRangeFailsWith22(String words, String line) {
        assertThatExceptionOfType(ToolFailure.class)
                .isThrownBy(() -> parse(words))
                .returns(22, ToolFailure::status);
        assertThat(err()).isEqualTo(line + System.lineSeparator());
        assertThat(out()).isEmpty();
    }

    @Test
    void unknownNameFailsWithTheCodeOfTheResolver() {
        assertThatExceptionOfType(ToolFailure.class)
                .isThrownBy(() -> RpingCommandLine.parse(List.of("-s", "-a", ""), environment))
                .returns(-2, ToolFailure::status);
        assertThat(out())
                .isEqualTo("getaddrinfo failed (Name or service not known) - invalid hostname or IP address"
                        + System.lineSeparator());
    }

    @Test
    void validAddressClearsAnEarlierError() throws ToolFailure {
        RpingOptions options = parse("-s -S 10 -a 127.0.0.1");
        assertThat(options.sizeBytes()).isEqualTo(10);
        assertThat(err()).startsWith("Invalid size 10");
    }

    @Test
    void negativeSizeIsAcceptedByTheParser() throws ToolFailure {
        assertThat(parse("-s -S -5").sizeBytes()).isEqualTo(-5);
        assertThat(err()).isEmpty();
    }

    @Test
    void defaultsMatchC() throws Exception {
        assertThat(parse("-s"))
                .isEqualTo(new RpingOptions(
                        true,
                        false,
                        new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 7174),
                        null,
                        0,
                        64,
                        false,
                        false,
                        false,
                        false));
    }

    @Test
    void everyOptionIsAccepted() throws Exception {
        assertThat(parse("-c -a ::1 -I 127.0.0.2 -p 70000 -C 7 -S 65535 -vVPqd operand"))
                .isEqualTo(new RpingOptions(
                        false,
                        true,
                        new InetSocketAddress(InetAddress.ofLiteral("::1"), 70000 & 0xffff),
                        InetAddress.ofLiteral("127.0.0.2"),
                        7,
                        65535,
                        true,
                        true,
                        true,
                        true));
        assertThat(out()).isEmpty();
    }

    @Test
    void lastOfServerAndClientTakesEffect() throws ToolFailure {
        assertThat(parse("-s -c").server()).isFalse();
        assertThat(parse("-cs").server()).isTrue();
    }

    @Test
    void debugEchoesTheOptionsThatFollowIt() throws ToolFailure {
        parse("-s -d -p 80 -v -V -c -S 30 -C 5");
        assertThat(out().lines())
                .containsExactly("port 80", "verbose", "validate data", "client", "size 30", "count 5");
    }
}
