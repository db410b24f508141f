package io.rdma4j.tools.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of riostream with both sides in this process. */
@Timeout(60)
class RiostreamTest {
    private static final String HEADER = TransferFigures.HEADER + "\n";

    private static void bothPass(String words, String beginning) throws InterruptedException {
        String address = ToolTestSupport.loopback();
        String port = ToolTestSupport.port();
        ToolRun server = ToolRun.start(new Riostream(), "-b " + address + port + " " + words);
        ToolRun client = SocketToolClient.run(server, HEADER, new Riostream(), "-s " + address + port + " " + words);
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(server.status()).as(server.err()).isZero();
        assertThat(client.err() + server.err()).isEmpty();
        String row = HEADER + beginning + " {4,12}[0-9]+\\.[0-9]{2}s +[0-9]+\\.[0-9]{2} +[0-9]+\\.[0-9]{2}\n";
        assertThat(client.out()).matches(row);
        assertThat(server.out()).matches(row);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", "-T n", "-T b", "-T a", "-T a -T b", "-T v", "-f gid", "-i 0", "-B 5000", "-B 2147483647"})
    void bothSidesPrintTheRow(String words) throws InterruptedException {
        bothPass("-C 20 -I 3 -S 20000 " + words, "custom    19k     20      3       2\\.2m");
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 15, 64, 1024, 65_536, 1 << 20})
    void anySizeArrives(int size) throws InterruptedException {
        bothPass(
                "-T v -C 1 -I 2 -S " + size,
                "custom    %-8s1       2       %s"
                        .formatted(TransferFigures.sizeText(size), TransferFigures.sizeText(4L * size)));
    }

    @Test
    void markersWrapAroundAfter255() throws InterruptedException {
        bothPass("-T v -C 1 -I 300 -S 40", "custom    40      1       300     23k");
    }

    @Test
    void aPeerWithoutMappingsIsReported() throws InterruptedException {
        String address = ToolTestSupport.loopback() + ToolTestSupport.port();
        ToolRun server = ToolRun.start(new Rstream(), "-C 1 -b " + address);
        ToolRun client = SocketToolClient.run(server, HEADER, new Riostream(), "-C 1 -s " + address);
        assertThat(client.status()).isEqualTo(-1);
        assertThat(client.err())
                .startsWith("riomap: Cannot allocate memory\nriostream: ")
                .contains("RDMA_IOMAPSIZE");
        assertThat(server.status()).isEqualTo(-1);
    }

    @Test
    void differentSizesEndTheRun() throws InterruptedException {
        String address = ToolTestSupport.loopback() + ToolTestSupport.port();
        ToolRun server = ToolRun.start(new Riostream(), "-S 100 -b " + address);
        ToolRun client = SocketToolClient.run(server, HEADER, new Riostream(), "-S 200 -s " + address);
        // The first side to fail reports the mismatch. The other side reports that its peer closed the connection.
        assertThat(client.status()).isEqualTo(-1);
        assertThat(server.status()).isEqualTo(-1);
        assertThat(client.err() + server.err()).contains("the same -");
        assertThat(client.out() + server.out()).isEqualTo(HEADER + HEADER);
    }

    @ParameterizedTest
    @ValueSource(strings = {"-k 5", "-T s", "-T f", "-T resolve"})
    void optionsOfRstreamOnlyPrintTheUsage(String words) throws InterruptedException {
        ToolRun run = ToolRun.of(new Riostream(), words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out())
                .startsWith("usage: riostream\n")
                .contains("a|async")
                .doesNotContain("fork");
    }
}
