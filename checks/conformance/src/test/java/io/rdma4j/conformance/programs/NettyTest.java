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
 * Runs Netty in separate processes, which only have the option that names the selector provider. A capture shows that
 * their data was transferred over RDMA. {@code checks/programs/run} runs more programs by {@code rdma4j run}.
 */
@Timeout(120)
class NettyTest {
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
    private String run(Class<?> program) throws Exception {
        Process server = start("server", program, words("server"));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!out("server").contains("ready")) {
            assertThat(server.isAlive() && System.nanoTime() < end)
                    .as(all("server"))
                    .isTrue();
            Thread.sleep(50);
        }
        Process client = start("client", program, words("client"));
        boolean ended = client.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
        assertThat(ended).as(all("client") + all("server")).isTrue();
        assertThat(client.exitValue()).as(all("client") + all("server")).isZero();
        return out("client");
    }

    private String[] words(String role) {
        return new String[] {role, host, String.valueOf(port)};
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
    void nettyEchoesDatagramsOverRdmaChannels() throws Exception {
        assertThat(run(NettyDatagrams.class)).contains("1000 datagrams echoed");
        assertThat(bytesOfRoce("client")).isGreaterThan(2 * 990 * 500);
    }
}
