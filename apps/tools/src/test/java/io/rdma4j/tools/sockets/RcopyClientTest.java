package io.rdma4j.tools.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.MessageFlag;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.tools.ToolRun;
import io.rdma4j.tools.ToolTestSupport;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests of rcopy's client with a server that the test implements, and with files that cannot be sent. */
@Timeout(60)
class RcopyClientTest {
    private static final int ENOSPC = 28;
    private static final int SHELL = 0xff;

    private final int port = ToolTestSupport.portNumber();
    private final RdmaStreamSocket listener = RdmaStreamSocket.open();

    @TempDir
    private Path folder = Path.of("");

    @BeforeEach
    void listen() throws IOException {
        listener.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port));
        listener.listen(1);
    }

    @AfterEach
    void close() {
        listener.close();
    }

    private ToolRun start(Path source) {
        return ToolRun.start(new Rcopy(), source + " 127.0.0.1:target -p " + port);
    }

    private static RcopyMessage next(RdmaStreamSocket socket) throws IOException {
        RcopyMessage message = RcopyMessage.read(bytes(socket, RcopyMessage.HEADER_BYTES));
        bytes(socket, message.lengthBytes() - RcopyMessage.HEADER_BYTES);
        return message;
    }

    private static ByteBuffer bytes(RdmaStreamSocket socket, int count) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(count);
        socket.receive(target, Set.of(MessageFlag.WAIT_ALL));
        assertThat(target.hasRemaining()).isFalse();
        return target.flip();
    }

    private static void respond(RdmaStreamSocket socket, RcopyMessage message, int status) throws IOException {
        socket.send(message.response(status).toBuffer().flip());
    }

    @Test
    void theServersReasonIsReportedAfterItClosedTheConnection() throws Exception {
        Path source = folder.resolve("large");
        try (RandomAccessFile file = new RandomAccessFile(source.toFile(), "rw")) {
            file.setLength(64 << 20);
        }
        ToolRun client = start(source);
        try (RdmaStreamSocket socket = Objects.requireNonNull(listener.accept())) {
            respond(socket, next(socket), 0);
            respond(socket, next(socket), ENOSPC);
            socket.shutdownInput();
            socket.shutdownOutput();
        }
        assertThat(client.status()).as(client.err()).isEqualTo(ENOSPC);
        assertThat(client.err())
                .isEqualTo("rcopy: target could not be written at the server: error 28, No space left on device\n");
    }

    @Test
    void aServersErrorIsNeverSuccess() throws Exception {
        ToolRun client = start(Files.writeString(folder.resolve("source"), "text"));
        try (RdmaStreamSocket socket = Objects.requireNonNull(listener.accept())) {
            respond(socket, next(socket), 256);
        }
        assertThat(client.status() & SHELL).isEqualTo(255);
    }

    @Test
    void aFileThatTheServerCouldNotCloseIsNotCopied() throws Exception {
        ToolRun client = start(Files.writeString(folder.resolve("source"), "text"));
        try (RdmaStreamSocket socket = Objects.requireNonNull(listener.accept())) {
            respond(socket, next(socket), 0);
            RcopyMessage write = next(socket);
            bytes(socket, 4);
            respond(socket, write, 0);
            respond(socket, next(socket), 5);
        }
        assertThat(client.status()).isEqualTo(5);
        assertThat(client.out()).doesNotContain("done", "Gb/sec");
        assertThat(client.err()).contains("could not be closed at the server: error 5, Input/output error");
    }

    @Test
    void aMissingFileIsReportedAsInC() throws Exception {
        ToolRun client = start(folder.resolve("nothing"));
        RdmaStreamSocket socket = Objects.requireNonNull(listener.accept());
        try (socket) {
            assertThat(client.status()).isEqualTo(-1);
        }
        assertThat(client.err())
                .isEqualTo("rcopy: the file " + folder.resolve("nothing")
                        + " cannot be read: No such file or directory\n");
    }

    @Test
    void aNamedPipeIsNotSent() throws Exception {
        Path pipe = folder.resolve("pipe");
        assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor())
                .isZero();
        ToolRun client = start(pipe);
        RdmaStreamSocket socket = Objects.requireNonNull(listener.accept());
        try (socket) {
            assertThat(client.status()).isEqualTo(-1);
        }
        assertThat(client.err()).contains("cannot be read: it is not a regular file");
    }

    /**
     * Java decodes names to replacement characters if the locale cannot represent them, as under cron and in
     * containers.
     */
    @Test
    void aNameThatCannotBeDecodedIsRejected() throws Exception {
        for (String words : List.of("\ufffd\ufffd 127.0.0.1:x", "source 127.0.0.1:\ufffd\ufffd.txt")) {
            ToolRun client = ToolRun.of(new Rcopy(), words + " -p " + port);
            assertThat(client.status()).isEqualTo(-1);
            assertThat(client.err()).contains("LC_ALL=C.UTF-8");
        }
    }
}
