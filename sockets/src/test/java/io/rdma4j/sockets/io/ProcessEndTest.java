package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaSockets;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.URI;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A process writes, closes a channel that does not block, and ends at once; packets of it are lost on the way. */
@Timeout(120)
class ProcessEndTest {
    private static final int BYTES = 60_000;

    /** What the process does. */
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
    void thePeerReadsAllThatWasWrittenBeforeTheProcessEnded(String end) throws Exception {
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
                        classPath(),
                        Writer.class.getName(),
                        listener.getInetAddress().getHostAddress(),
                        Integer.toString(listener.getLocalPort()),
                        end)
                .inheritIO()
                .start();
    }

    /** Where the classes of all rooms and of the tests lie, also when the tests run on the module path. */
    private static String classPath() {
        Set<String> roots = new LinkedHashSet<>();
        for (Class<?> each : List.of(
                ProcessEndTest.class,
                RdmaSockets.class,
                io.rdma4j.cm.CmId.class,
                io.rdma4j.verbs.Device.class,
                io.rdma4j.soft.SoftProvider.class,
                io.rdma4j.transport.RcQueuePair.class,
                io.rdma4j.link.Link.class,
                io.rdma4j.wire.Frame.class)) {
            roots.add(root(each));
        }
        return String.join(File.pathSeparator, roots);
    }

    private static String root(Class<?> type) {
        String name = type.getName().replace('.', '/') + ".class";
        URL url = Objects.requireNonNull(type.getResource("/" + name), name);
        String text = url.toString();
        String base = text.substring(0, text.length() - name.length());
        if (base.startsWith("jar:")) {
            base = base.substring(4, base.length() - 2);
        }
        return Path.of(URI.create(base)).toString();
    }
}
