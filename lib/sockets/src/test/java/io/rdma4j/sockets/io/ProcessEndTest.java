package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaSockets;
import io.rdma4j.sockets.TestClassPath;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process writes, closes a non-blocking channel, and exits immediately, while packets are lost. */
@Timeout(120)
class ProcessEndTest {
    private static final int BYTES = 60_000;

    /** The program of the process. */
    static final class Writer {
        private Writer() {}

        public static void main(String[] arguments) throws IOException {
            try (SocketChannel channel = RdmaSockets.openSocketChannel(StandardProtocolFamily.INET)) {
                channel.connect(
                        new InetSocketAddress(InetAddress.ofLiteral(arguments[0]), Integer.parseInt(arguments[1])));
                channel.configureBlocking(false);
                ByteBuffer bytes = ByteBuffer.allocate(BYTES);
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
            }
            if (arguments[2].equals("exit")) {
                System.exit(0);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"exit", "return"})
    void peerReadsAllBytesWrittenBeforeTheProcessExited(String end) throws Exception {
        try (ServerSocket listener = RdmaSockets.openServerSocket(StandardProtocolFamily.INET)) {
            listener.bind(new InetSocketAddress(RawStreamPeer.loopback(), 0));
            Process writer = start(listener, end);
            try (Socket accepted = listener.accept()) {
                assertThat(accepted.getInputStream().readAllBytes()).hasSize(BYTES);
            } finally {
                assertThat(writer.waitFor(30, TimeUnit.SECONDS)).isTrue();
            }
        }
    }

    private static Process start(ServerSocket listener, String end) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Drdma4j.fault=loss=10%,seed=7",
                        "-cp",
                        TestClassPath.of(ProcessEndTest.class),
                        Writer.class.getName(),
                        listener.getInetAddress().getHostAddress(),
                        Integer.toString(listener.getLocalPort()),
                        end)
                .inheritIO()
                .start();
    }
}
