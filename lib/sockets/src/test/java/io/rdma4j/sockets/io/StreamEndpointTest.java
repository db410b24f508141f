package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.verbs.QueuePairAttributes;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of stream endpoints over the software device, both ends in this process. */
@Timeout(30)
class StreamEndpointTest {
    private static final long PATIENCE_NANOS = 10_000_000_000L;

    private final StreamEndpoint listener = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
    private final StreamEndpoint client = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
    private StreamEndpoint server = client;

    @BeforeEach
    void connect() throws IOException {
        listener.bind(new InetSocketAddress(loopback(), 0));
        listener.listen(5);
        client.startConnect(Objects.requireNonNull(listener.localAddress()));
        assertThat(client.await(Readiness.OUT, deadline())).isEqualTo(Readiness.OUT);
        assertThat(client.finishConnect()).isTrue();
        assertThat(listener.await(Readiness.IN, deadline())).isEqualTo(Readiness.IN);
        server = Objects.requireNonNull(listener.accept());
    }

    private static InetAddress loopback() throws IOException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return InetAddress.getByAddress(new byte[] {
            127, (byte) random.nextInt(1, 255), (byte) random.nextInt(256), (byte) random.nextInt(1, 255)
        });
    }

    private static long deadline() {
        return System.nanoTime() + PATIENCE_NANOS;
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
        listener.close();
    }

    @Test
    void bytesArriveInOrderBothWays() throws IOException {
        transfer(client, server, 3_000_000);
        transfer(server, client, 3_000_000);
    }

    /** Transfers bytes in one thread that sends and receives. Each side does only what is possible immediately. */
    private static void transfer(StreamEndpoint from, StreamEndpoint to, int bytes) throws IOException {
        byte[] sent = new byte[bytes];
        ThreadLocalRandom.current().nextBytes(sent);
        ByteBuffer source = ByteBuffer.wrap(sent);
        ByteBuffer target = ByteBuffer.allocate(bytes);
        long deadline = deadline();
        while (target.hasRemaining()) {
            int moved = from.write(source) + to.read(target);
            assertThat(moved > 0 || System.nanoTime() < deadline).isTrue();
        }
        assertThat(target.array()).isEqualTo(sent);
    }

    @Test
    void waitingThreadIsWoken() throws Exception {
        ByteBuffer got = ByteBuffer.allocate(100);
        Thread reader = Thread.ofVirtual().start(() -> {
            try {
                server.await(Readiness.IN, Long.MAX_VALUE);
                server.read(got);
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        });
        BlockedThread.await(reader);
        client.write(ByteBuffer.wrap(new byte[] {1, 2, 3}));
        reader.join();
        assertThat(got.position()).isEqualTo(3);
    }

    @Test
    void bytesWrittenBeforeTheEndAreRead() throws IOException {
        client.write(ByteBuffer.wrap(new byte[1000]));
        client.close();
        ByteBuffer target = ByteBuffer.allocate(2000);
        int count = 0;
        while (count >= 0) {
            server.await(Readiness.IN, deadline());
            count = server.read(target);
        }
        assertThat(target.position()).isEqualTo(1000);
    }

    @Test
    void smallWritesDetectTheEndOfTheConnection() throws IOException {
        server.close();
        ByteBuffer one = ByteBuffer.allocate(1);
        long deadline = deadline();
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 200 || System.nanoTime() < deadline; i++) {
                        client.write(one.clear());
                    }
                })
                .isInstanceOf(SocketException.class);
    }

    @Test
    void connectionThatEndsWithoutEndOfStreamIsReset() throws IOException {
        transfer(client, server, 100);
        client.close(0); // as with SO_LINGER 0
        assertThat(server.await(Readiness.IN, deadline()) & Readiness.IN).isEqualTo(Readiness.IN);
        assertThatThrownBy(() -> server.read(ByteBuffer.allocate(1)))
                .isInstanceOf(SocketException.class)
                .hasMessageStartingWith("Connection reset");
        assertThatThrownBy(() -> server.write(ByteBuffer.allocate(1))).isInstanceOf(SocketException.class);
    }

    @Test
    void bytesReceivedBeforeAResetAreRead() throws IOException {
        client.write(ByteBuffer.wrap(new byte[1000]));
        while (server.availableBytes() < 1000) {
            assertThat(server.await(Readiness.IN, deadline()) & Readiness.IN).isEqualTo(Readiness.IN);
        }
        client.close(0);
        assertThat(server.await(Readiness.IN, deadline())).isNotZero();
        assertThat(server.read(ByteBuffer.allocate(2000))).isEqualTo(1000);
        server.await(Readiness.IN, deadline());
        assertThatThrownBy(() -> server.read(ByteBuffer.allocate(1))).hasMessageStartingWith("Connection reset");
    }

    @Test
    void endOfStreamRemainsAfterTheConnectionEnds() throws IOException {
        client.shutdownOutput();
        server.await(Readiness.IN, deadline());
        assertThat(server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        client.close(0);
        assertThat(server.await(Readiness.ERROR, deadline())).isNotZero();
        assertThat(server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
    }

    @Test
    void outputOfOneSideEndsAndTheOtherContinues() throws IOException {
        client.shutdownOutput();
        assertThat(server.await(Readiness.IN, deadline()) & Readiness.IN).isEqualTo(Readiness.IN);
        assertThat(server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        transfer(server, client, 100_000);
    }

    /** A kernel's TCP also survives such a pause, in which the peer is stopped or the network is interrupted. */
    @Test
    void connectionSurvivesAPauseOfAMinute() throws IOException {
        for (StreamEndpoint end : List.of(client, server)) {
            QueuePairAttributes attributes = end.withResources(StreamResources::queuePairAttributes);
            double seconds = 4.096e-6 * Math.pow(2, attributes.timeout()) * (attributes.retryCount() + 1);
            assertThat(seconds).isBetween(60.0, 75.0);
        }
    }
}
