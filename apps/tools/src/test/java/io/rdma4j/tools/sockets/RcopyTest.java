package io.rdma4j.tools.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of rcopy with both sides in this process. Each test starts a separate server, which never exits by itself. */
@Timeout(60)
class RcopyTest {
    private static final String WAITING = "waiting for connection...";

    private final String port = ToolTestSupport.port();

    /** A server on the wildcard address listens on the addresses of all interfaces. */
    private final String address = "127.0.0.1";

    @TempDir
    private Path folder = Path.of("");

    private ToolRun server = ToolRun.start(new Rcopy(), port);

    @BeforeEach
    void awaitServer() throws InterruptedException {
        server.awaitText(WAITING);
        Thread.sleep(50); // it listens shortly after the line
    }

    private ToolRun copy(Path source, Path target) throws InterruptedException {
        return ToolRun.of(new Rcopy(), source + " " + address + ":" + target + port);
    }

    private Path source(int bytes) throws IOException {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        return Files.write(folder.resolve("source"), content);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 8, 100_000, 3_000_000})
    void aFileArrivesWithItsBytesAndPermissions(int bytes) throws Exception {
        Path source = source(bytes);
        Files.setPosixFilePermissions(source, PosixFilePermissions.fromString("rwx------"));
        Path target = folder.resolve("target");
        ToolRun client = copy(source, target);
        assertThat(client.status()).as(client.err()).isZero();
        assertThat(client.err()).isEmpty();
        assertThat(client.out())
                .matches("opening\\.\\.\\.transferring\\.\\.\\.closing\\.\\.\\.done\n" + bytes
                        + " bytes in [0-9]+\\.[0-9]{2} seconds = [0-9.]+ Gb/sec\n");
        server.awaitText("done\n" + WAITING);
        assertThat(server.out())
                .matches("waiting for connection\\.\\.\\.client: 127\\.[0-9.]+\nopening: " + target
                        + ", transferring\\.\\.\\." + bytes + " bytes\\.\\.\\.closing\\.\\.\\.done\n"
                        + "waiting for connection\\.\\.\\.");
        assertThat(server.err()).isEmpty();
        assertThat(target).hasSameBinaryContentAs(source);
        assertThat(Files.getPosixFilePermissions(target)).isEqualTo(PosixFilePermissions.fromString("rwx------"));
    }

    @Test
    void aLongerFileIsReplaced() throws Exception {
        Path target = Files.write(folder.resolve("target"), new byte[1000]);
        Path source = source(10);
        assertThat(copy(source, target).status()).isZero();
        assertThat(target).hasSameBinaryContentAs(source);
    }

    @Test
    void theServersErrorIsTheExitStatus() throws Exception {
        ToolRun nowhere = copy(source(10), folder.resolve("no/such/folder"));
        assertThat(nowhere.status()).isEqualTo(2);
        assertThat(nowhere.out()).isEqualTo("opening...\n");
        assertThat(nowhere.err()).contains("could not be opened at the server: error 2, No such file or directory");
        assertThat(server.awaitText("unable").out()).contains(", unable to open destination file\n");
        ToolRun directory = copy(source(10), folder);
        assertThat(directory.status()).isEqualTo(21);
        Path target = folder.resolve("target");
        assertThat(copy(source(10), target).status()).as("the server continues").isZero();
    }

    @Test
    void unreadableFilesAreReported() throws InterruptedException {
        ToolRun client = copy(folder.resolve("nothing"), folder.resolve("target"));
        assertThat(client.status()).isEqualTo(-1);
        assertThat(client.err()).startsWith("rcopy: the file ").contains("cannot be read");
        assertThat(copy(folder, folder.resolve("target")).err()).contains("it is a directory");
    }

    @Test
    void aRefusedConnectionIsReported() throws Exception {
        ToolRun client = ToolRun.of(new Rcopy(), source(1) + " " + address + ToolTestSupport.port());
        assertThat(client.status()).isEqualTo(-1);
        assertThat(client.err()).startsWith("rconnect failed\n: Connection refused\n");
    }

    @Test
    void aPortInUseIsReported() throws InterruptedException {
        ToolRun second = ToolRun.of(new Rcopy(), port);
        assertThat(second.status()).isEqualTo(-1);
        assertThat(second.err())
                .matches("(?s)r(bind|listen) failed: (Address already in use|Cannot assign requested address)\n.*");
    }

    @ParameterizedTest
    @CsvSource({
        "9, 3, 24, invalid version 9 or length 24",
        "0, 3, 15, invalid version 0 or length 15",
        "0, 3, 24, transferring...file not opened",
        "0, 9, 16, 'client: '"
    })
    void aClientWithInvalidMessagesIsDropped(byte version, byte command, short length, String line) throws Exception {
        ByteBuffer message = ByteBuffer.allocate(24).order(ByteOrder.nativeOrder());
        message.put(version).put(command).putShort(length);
        try (RdmaStreamSocket socket = connect()) {
            socket.send(message.clear());
            ByteBuffer response = ByteBuffer.allocate(100);
            while (socket.receive(response) > 0) {
                assertThat(response.hasRemaining()).isTrue();
            }
        }
        assertThat(server.awaitText("\n" + WAITING).out()).contains(line);
        Path target = folder.resolve("target");
        assertThat(copy(source(10), target).status()).isZero();
    }

    @Test
    void aDisconnectedClientDoesNotBlockTheServer() throws Exception {
        Path target = folder.resolve("half");
        byte[] path = target.toString().getBytes(StandardCharsets.UTF_8);
        try (RdmaStreamSocket socket = connect()) {
            ByteBuffer open = RcopyMessage.of(RcopyMessage.OPEN, RcopyMessage.pathBytes(path.length), 0100600)
                    .toBuffer()
                    .put(path)
                    .clear();
            socket.send(open);
            ByteBuffer response = ByteBuffer.allocate(16);
            assertThat(socket.receive(response)).isEqualTo(16);
            assertThat(RcopyMessage.read(response.flip()).command()).isEqualTo(0x81);
            socket.send(RcopyMessage.of(RcopyMessage.WRITE, 8, 0)
                    .toBuffer()
                    .putLong(1000)
                    .clear());
            socket.send(ByteBuffer.allocate(400));
        }
        assertThat(server.awaitText("...error receiving data\n").out())
                .contains("...1000 bytes......error receiving data\n");
        assertThat(copy(source(10), target).status()).isZero();
        assertThat(target).hasSize(10);
    }

    private RdmaStreamSocket connect() throws IOException {
        RdmaStreamSocket socket = RdmaStreamSocket.open();
        socket.connect(new InetSocketAddress(
                InetAddress.ofLiteral(address), Integer.parseInt(port.substring(" -p ".length()))));
        return socket;
    }

    @ParameterizedTest
    @ValueSource(strings = {"file", "-x", "file server -x", "-p"})
    void invalidArgumentsPrintTheUsage(String words) throws InterruptedException {
        ToolRun run = ToolRun.of(new Rcopy(), words);
        assertThat(run.status()).isEqualTo(1);
        assertThat(run.out()).startsWith("usage 1: rcopy [options]\n\t     starts the server application\n");
    }
}
