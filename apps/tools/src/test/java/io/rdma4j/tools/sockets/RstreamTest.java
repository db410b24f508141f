package io.rdma4j.tools.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import io.rdma4j.tools.command.ToolProcess;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of rstream with both sides in this process. */
@Timeout(60)
class RstreamTest {
    private static final String HEADER = TransferFigures.HEADER + "\n";

    /** Returns the pattern of a row. */
    private static String row(String beginning) {
        return beginning + " {4,12}[0-9]+\\.[0-9]{2}s +[0-9]+\\.[0-9]{2} +[0-9]+\\.[0-9]{2}\n";
    }

    private static void bothPass(String words, String pattern) throws InterruptedException {
        String address = ToolTestSupport.loopback();
        String port = ToolTestSupport.port();
        ToolRun server = ToolRun.start(new Rstream(), "-b " + address + port + " " + words);
        ToolRun client = SocketToolClient.run(server, HEADER, new Rstream(), "-s " + address + port + " " + words);
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(server.status()).as(server.err()).isZero();
        assertThat(client.err() + server.err()).isEmpty();
        assertThat(client.out()).matches(HEADER + pattern);
        assertThat(server.out()).matches(HEADER + pattern);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "-T n",
                "-T b",
                "-T a",
                "-T a -T b",
                "-T v",
                "-T verify -T blocking -T async",
                "-T r",
                "-f gid",
                "-f ip",
                "-B 5000",
                "-T s",
                "-T s -T b",
                "-T s -T a -T v",
                "-T socket -T BLOCKING -T a"
            })
    void bothSidesPrintTheRow(String words) throws InterruptedException {
        bothPass("-C 20 -I 3 -S 20000 " + words, row("custom    19k     20      3       2\\.2m"));
    }

    @ParameterizedTest
    @CsvSource({"1, 1", "16, 16", "100000, 97k", "2097152, 2m"})
    void anySizeArrives(int size, String text) throws InterruptedException {
        String total = TransferFigures.sizeText(size * 4L).replace(".", "\\.");
        bothPass("-T v -I 1 -C 2 -S " + size, row("custom    %-8s2       1       %s".formatted(text, total)));
    }

    @Test
    void keepAliveIsReported() throws InterruptedException {
        String address = ToolTestSupport.loopback() + ToolTestSupport.port() + " -k 9 -C 1";
        ToolRun server = ToolRun.start(new Rstream(), "-b " + address);
        ToolRun client = SocketToolClient.run(server, HEADER, new Rstream(), "-s " + address);
        String lines = "Keepalive: ON\n  time: 9\n";
        assertThat(client.out()).startsWith(HEADER + lines + "custom ");
        assertThat(server.status()).isZero();
        assertThat(server.out()).startsWith(HEADER + lines + lines + "custom ");
    }

    @ParameterizedTest
    @CsvSource({"'', 8", "-T b, -1", "-T s, 24", "-T s -T b, -1"})
    void aRefusedConnectionIsReported(String words, int status) throws InterruptedException {
        String address = ToolTestSupport.loopback();
        String port = ToolTestSupport.port();
        String otherPort = ToolTestSupport.port();
        // A server at another port is needed to refuse the connection.
        ToolRun otherServer = ToolRun.start(new Rstream(), "-C 1 -b " + address + otherPort);
        otherServer.awaitText(HEADER);
        ToolRun client = ToolRun.of(new Rstream(), "-C 1 -s " + address + port + " " + words);
        assertThat(client.status()).isEqualTo(status);
        assertThat(client.out()).isEqualTo(HEADER);
        assertThat(client.err())
                .startsWith(
                        words.contains("b") ? "rconnect: Connection refused\n" : "rpoll: Operation now in progress\n");
        assertThat(ToolRun.of(new Rstream(), "-C 1 -s " + address + otherPort).status())
                .isZero();
        assertThat(otherServer.status()).isZero();
    }

    @Test
    void aPortInUseIsReported() throws InterruptedException {
        String address = ToolTestSupport.loopback() + ToolTestSupport.port();
        ToolRun first = ToolRun.start(new Rstream(), "-C 1 -b " + address);
        first.awaitText(HEADER);
        ToolRun second = ToolRun.of(new Rstream(), "-C 1 -b " + address);
        // As in C, both set SO_REUSEADDR, and the second one to listen is refused.
        assertThat(second.status()).isEqualTo(-1);
        assertThat(second.out()).isEmpty();
        assertThat(second.err()).matches("(?s)r(bind|listen): Address already in use\n.*");
        ToolRun.of(new Rstream(), "-C 1 -s " + address);
        assertThat(first.status()).isZero();
    }

    @Test
    void buffersOfAByteAreEnough() throws InterruptedException {
        bothPass("-C 2 -I 1 -S 100 -T v -B 1", row("custom    100     2       1       400"));
    }

    @Test
    void aPeerThatClosesEarlyIsReported() throws InterruptedException {
        String address = ToolTestSupport.loopback() + ToolTestSupport.port();
        ToolRun server = ToolRun.start(new Rstream(), "-C 10 -b " + address);
        ToolRun client = SocketToolClient.run(server, HEADER, new Rstream(), "-C 20 -s " + address);
        assertThat(server.status()).isZero();
        assertThat(client.status()).isEqualTo(-1);
        assertThat(client.out()).isEqualTo(HEADER);
        assertThat(client.err()).isNotEmpty();
    }

    @Test
    void corruptedBytesAreReported() throws InterruptedException {
        String address = ToolTestSupport.loopback() + ToolTestSupport.port();
        ToolRun server = ToolRun.start(new Rstream(), "-T v -C 1 -b " + address);
        ToolRun client = SocketToolClient.run(server, HEADER, new Rstream(), "-C 1 -s " + address);
        assertThat(server.status()).isEqualTo(-1);
        assertThat(server.out()).isEqualTo(HEADER + "data verification failed byte 1\n");
        assertThat(client.status()).isEqualTo(-1);
        assertThat(client.err()).contains("the same -I, -C, -S");
    }

    @Test
    void jsonHasParametersAndRows() throws InterruptedException {
        String address = ToolTestSupport.loopback() + ToolTestSupport.port() + " -C 3 --json";
        ToolRun server = ToolRun.start(new Rstream(), "-b " + address);
        ToolRun client = SocketToolClient.run(server, HEADER, new Rstream(), "-s " + address);
        assertThat(server.status()).isZero();
        assertThat(client.out())
                .contains(
                        "\"tool\": \"rstream\"",
                        "\"role\": \"client\"",
                        "\"name\": \"custom\"",
                        "\"totalBytes\": 6000",
                        "\"gigabitsPerSecond\"",
                        "\"status\": 0");
        assertThat(client.err()).startsWith(HEADER + "custom ");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "-s no.such.host.invalid | getaddrinfo: | ",
                "-f ip -s localhost | getaddrinfo: Name or service not known | -2",
                "-p no-such-service | getaddrinfo: Servname not supported for ai_socktype | -8",
                "-b 203.0.113.77 | rbind: Cannot assign requested address | -1",
                "-T s -s 127.0.0.1 -b ::1 | rbind: Address family not supported by protocol | -1",
                "-T s -s ::1 -b 127.0.0.1 | : Address family not supported by protocol | -1",
                "-S -1 | malloc: Cannot allocate memory | -1"
            })
    void invalidAddressesAndSizesAreReported(String words, String line, Integer status) throws InterruptedException {
        ToolRun run = ToolRun.of(new Rstream(), words);
        assertThat(run.status()).as(run.err()).isNegative();
        if (status != null) {
            assertThat(run.status()).isEqualTo(status);
        }
        assertThat(run.out() + run.err()).contains(line);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-x", "-p", "-T x", "-T soc", "-T ss"})
    void invalidArgumentsPrintTheUsage(String words) throws InterruptedException {
        ToolRun run = ToolRun.of(new Rstream(), words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out())
                .startsWith("usage: rstream\n\t[-s server_address]\n")
                .endsWith("verify data\n");
    }

    @Test
    void anUnknownFormatIsOnlyAWarning() throws InterruptedException {
        ToolRun run = ToolRun.of(new Rstream(), "-f name -p x");
        assertThat(run.err()).startsWith("Warning: unknown address format\n");
        assertThat(run.status()).isEqualTo(-8);
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aProcessServesEachConnection() throws InterruptedException {
        bothPass("-C 20 -I 3 -S 20000 -T f -T v", row("custom    19k     20      3       2\\.2m"));
    }

    @Test
    void anUnknownPhaseOfAProcessIsReported() throws InterruptedException {
        List<String> lines = new CopyOnWriteArrayList<>();
        try (ToolProcess tool = ToolProcess.startWithInput(
                List.of("rstream"), Map.of("RDMA4J_RSTREAM_PHASE", "x"), lines::add, lines::add)) {
            assertThat(tool.await(30)).isEqualTo(255);
        }
        assertThat(lines).hasSize(1);
        assertThat(lines.getFirst()).startsWith("rstream: RDMA4J_RSTREAM_PHASE");
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void rowsOfAllProcessesAreInOneDocument() throws InterruptedException {
        String words = " -C 3 -I 2 -T f --json" + ToolTestSupport.port();
        String address = ToolTestSupport.loopback();
        ToolRun server = ToolRun.start(new Rstream(), "-b " + address + words);
        ToolRun client = SocketToolClient.run(server, HEADER, new Rstream(), "-s " + address + words);
        for (ToolRun side : new ToolRun[] {server, client}) {
            assertThat(side.status()).as(side.err()).isZero();
            assertThat(side.out()).startsWith("{").endsWith("}\n").containsOnlyOnce("\"tool\"");
            assertThat(side.out()).containsOnlyOnce("\"name\": \"custom\"").containsOnlyOnce("\"totalBytes\": 12000");
            assertThat(side.err()).matches(HEADER + row("custom    1000    3       2       11k"));
        }
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void aFailureInAConnectionsProcessIsReported() throws InterruptedException {
        String address = ToolTestSupport.loopback() + ToolTestSupport.port();
        ToolRun server = ToolRun.start(new Rstream(), "-T fork -T v -C 1 -b " + address);
        SocketToolClient.run(server, HEADER, new Rstream(), "-T s -C 1 -s " + address);
        assertThat(server.status()).isEqualTo(-1);
        assertThat(server.out()).isEqualTo(HEADER + "data verification failed byte 1\n");
    }
}
