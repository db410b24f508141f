package io.rdma4j.tools.top;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.rdma4j.soft.report.StackReport;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests that the reader accepts only complete reports, within its limits. */
@Timeout(30)
class StackReaderTest {
    private static final StackReport REPORT = new StackReport(4711, "Server", 7, List.of(), List.of(), 0);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    private Path path(String name) {
        return folder.resolve(name);
    }

    private static ServerSocketChannel listen(Path socket) throws IOException {
        return ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket));
    }

    /** Sends the same bytes to every reader. */
    private static void answer(ServerSocketChannel server, byte[] bytes) {
        Thread.ofVirtual().start(() -> {
            while (server.isOpen()) {
                try (SocketChannel reader = server.accept()) {
                    ByteBuffer buffer = ByteBuffer.wrap(bytes);
                    while (buffer.hasRemaining()) {
                        reader.write(buffer);
                    }
                } catch (IOException e) {
                    // the reader has closed the connection, or the test has ended
                }
            }
        });
    }

    @Test
    void reportsAreReadAndKilledProcessesAreNot() throws Exception {
        Path killed = path("killed");
        listen(killed).close();
        assertThat(killed).exists();
        try (ServerSocketChannel server = listen(path("alive"))) {
            answer(server, REPORT.encode());
            StackReader.Answers answers = StackReader.readAll(List.of(killed, path("alive"), path("never")));
            assertThat(answers.reports()).containsExactly(REPORT);
            assertThat(answers.problems()).isEmpty();
        }
    }

    @Test
    void invalidBytesAreAProblem() throws Exception {
        try (ServerSocketChannel server = listen(path("other"))) {
            answer(server, new byte[100]);
            StackReader.Answers answers = StackReader.readAll(List.of(path("other")));
            assertThat(answers.reports()).isEmpty();
            assertThat(answers.problems()).containsExactly("other: the report is of another version of rdma4j");
        }
    }

    @Test
    void tooManyBytesAreAProblem() throws Exception {
        try (ServerSocketChannel server = listen(path("long"))) {
            answer(server, new byte[StackReport.MAX_BYTES + 1]);
            assertThatIOException()
                    .isThrownBy(() -> StackReader.read(path("long")))
                    .withMessage("the report is longer than 8388608 bytes");
        }
    }

    @Test
    void aProcessThatIsStoppedIsAProblem() throws Exception {
        try (ServerSocketChannel server = listen(path("stopped"))) {
            assertThat(server.isOpen()).isTrue();
            assertThatIOException()
                    .isThrownBy(() -> StackReader.read(path("stopped")))
                    .withMessage("the process does not answer; it may be stopped");
        }
    }
}
