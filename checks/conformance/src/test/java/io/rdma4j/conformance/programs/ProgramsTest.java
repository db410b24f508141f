package io.rdma4j.conformance.programs;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.RoceCapture;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs unmodified programs of other projects, each in a process of its own. They are started with only the option that
 * names the selector provider. A capture verifies that their data was transferred over RDMA.
 */
@Timeout(120)
class ProgramsTest {
    static final String PASSWORD = "password";

    private static final String PROVIDER =
            "-Djava.nio.channels.spi.SelectorProvider=io.rdma4j.sockets.RdmaSelectorProvider";
    private static final long PATIENCE_SECONDS = 60;

    @TempDir
    Path folder = Path.of("");

    private final List<Process> processes = new ArrayList<>();
    private final String host = "127." + random() + "." + random() + "." + random();
    private final int port = freePort();

    private static int random() {
        return ThreadLocalRandom.current().nextInt(1, 255);
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new AssertionError("no port is free", e);
        }
    }

    @AfterEach
    void stop() {
        processes.forEach(Process::destroyForcibly);
    }

    private Process start(String label, Class<?> program, String... words) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                PROVIDER,
                "-Drdma4j.sockets.rules=*=rdma",
                "-Drdma4j.pcap=" + capture(label),
                "-cp",
                System.getProperty("java.class.path"),
                program.getName()));
        command.addAll(List.of(words));
        Process process = new ProcessBuilder(command)
                .redirectOutput(folder.resolve(label + ".out").toFile())
                .redirectError(folder.resolve(label + ".err").toFile())
                .start();
        processes.add(process);
        return process;
    }

    private Path capture(String label) {
        return folder.resolve(label + ".pcapng");
    }

    private String out(String label) throws IOException {
        return Files.readString(folder.resolve(label + ".out"));
    }

    private String all(String label) throws IOException {
        return label + ":\n" + out(label) + Files.readString(folder.resolve(label + ".err"));
    }

    /** Starts server and client, and returns the client's output. */
    private String run(Class<?> program, String... more) throws Exception {
        Process server = start("server", program, words("server", more));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!out("server").contains("ready")) {
            assertThat(server.isAlive() && System.nanoTime() < end)
                    .as(all("server"))
                    .isTrue();
            Thread.sleep(50);
        }
        Process client = start("client", program, words("client", more));
        boolean ended = client.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(ended).as(all("client") + all("server")).isTrue();
        assertThat(client.exitValue()).as(all("client") + all("server")).isZero();
        return out("client");
    }

    private String[] words(String role, String... more) {
        List<String> words = new ArrayList<>(List.of(role, host, String.valueOf(port)));
        words.addAll(List.of(more));
        return words.toArray(String[]::new);
    }

    /** Returns the number of bytes in the RoCEv2 frames that a process sent or received. */
    private long bytesOfRoce(String label) throws IOException {
        return RoceCapture.read(capture(label)).bytes();
    }

    @Test
    void nettyEchoes() throws Exception {
        assertThat(run(NettyEcho.class)).contains("echoed 4000000 bytes");
        assertThat(bytesOfRoce("client")).isGreaterThan(8_000_000);
    }

    @Test
    void nettyServesHttp() throws Exception {
        assertThat(run(NettyHttp.class)).contains("200 500000 bytes");
        assertThat(bytesOfRoce("client")).isGreaterThan(500_000);
    }

    @Test
    void nettyEchoesDatagramsOverRdmaChannels() throws Exception {
        assertThat(run(NettyDatagrams.class)).contains("1000 datagrams echoed");
        assertThat(bytesOfRoce("client")).isGreaterThan(2 * 990 * 500);
    }

    @Test
    void jettyServesTheClientOfTheJdkOverTls() throws Exception {
        Path keys = folder.resolve("keys.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "server",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=" + host,
                        "-ext",
                        "SAN=IP:" + host,
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        keys.toString(),
                        "-storepass",
                        PASSWORD)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("keytool.out").toFile())
                .start();
        assertThat(keytool.waitFor()).isZero();
        assertThat(run(JettyTls.class, keys.toString())).isEqualTo("200 700000 bytes\n".repeat(5));
        assertThat(bytesOfRoce("client")).isGreaterThan(3_500_000);
    }

    @Test
    void zooKeeperStoresNodesAndNotifiesWatches() throws Exception {
        Path data = Files.createDirectory(folder.resolve("zookeeper"));
        assertThat(run(ZooKeeperRun.class, data.toString())).contains("50 nodes, watch true");
        assertThat(bytesOfRoce("client")).isGreaterThan(5_000);
    }
}
