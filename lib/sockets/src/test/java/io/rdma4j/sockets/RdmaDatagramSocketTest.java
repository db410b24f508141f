package io.rdma4j.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of the datagram calls of rsocket(7). */
@Timeout(30)
class RdmaDatagramSocketTest {
    private static final Set<MessageFlag> PEEK = Set.of(MessageFlag.PEEK);
    private static final Set<MessageFlag> DONT_WAIT = Set.of(MessageFlag.DONT_WAIT);

    private final RdmaDatagramSocket server = RdmaDatagramSocket.open();
    private final RdmaDatagramSocket client = RdmaDatagramSocket.open();
    private final ByteBuffer target = ByteBuffer.allocate(100);

    @BeforeEach
    void bind() throws IOException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        byte[] loopback = {127, (byte) random.nextInt(1, 255), (byte) random.nextInt(256), (byte) random.nextInt(1, 255)
        };
        server.bind(new InetSocketAddress(InetAddress.getByAddress(loopback), 0));
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
    }

    private InetSocketAddress serverAddress() {
        return Objects.requireNonNull(server.localAddress());
    }

    private interface Call {
        void run() throws Exception;
    }

    /** Starts a call in a thread, and waits until it blocks. */
    private static CompletableFuture<String> failureOfBlocked(Call call) throws InterruptedException {
        CompletableFuture<String> failure = new CompletableFuture<>();
        Thread caller = Thread.ofVirtual().start(() -> {
            try {
                call.run();
                failure.complete("none");
            } catch (Exception e) {
                failure.complete(e.getClass().getSimpleName());
            }
        });
        BlockedThread.await(caller);
        return failure;
    }

    @Test
    void blockingSocketWaitsForADatagram() throws Exception {
        CompletableFuture<String> outcome = failureOfBlocked(() -> server.receiveFrom(target));
        client.connect(serverAddress());
        assertThat(client.send(ByteBuffer.wrap(new byte[7]))).isTrue();
        assertThat(outcome.get(10, TimeUnit.SECONDS)).isEqualTo("none");
        assertThat(target.position()).isEqualTo(7);
    }

    @Test
    void nonBlockingCallReturnsImmediately() throws IOException {
        assertThat(server.receiveFrom(target, DONT_WAIT)).isNull();
        server.configureBlocking(false);
        assertThat(server.isBlocking()).isFalse();
        assertThat(server.receiveFrom(target)).isNull();
    }

    @Test
    void peekLeavesTheDatagram() throws IOException {
        client.sendTo(ByteBuffer.wrap(new byte[] {5}), serverAddress());
        InetSocketAddress from = server.receiveFrom(target, PEEK);
        assertThat(from).isNotNull();
        assertThat(server.receiveFrom(target)).isEqualTo(from);
        assertThat(target.position()).isEqualTo(2);
    }

    @Test
    void readinessReportsPossibleCalls() throws IOException {
        int both = PollEvents.IN | PollEvents.OUT;
        assertThat(server.await(both, Duration.ZERO)).isEqualTo(PollEvents.OUT);
        assertThat(server.await(PollEvents.IN, Duration.ofMillis(20))).isZero();
        client.sendTo(ByteBuffer.wrap(new byte[] {5}), serverAddress());
        assertThat(server.await(PollEvents.IN, Duration.ofSeconds(10))).isEqualTo(PollEvents.IN);
        assertThat(server.await(both, null)).isEqualTo(both);
    }

    @Test
    void closeAndInterruptEndABlockedCall() throws Exception {
        CompletableFuture<String> outcome = failureOfBlocked(() -> server.receiveFrom(target));
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> server.receiveFrom(target)).isInstanceOf(InterruptedIOException.class);
        assertThat(Thread.interrupted()).isTrue();
        server.close();
        assertThat(server.isClosed()).isTrue();
        assertThat(outcome.get(10, TimeUnit.SECONDS)).isEqualTo("SocketException");
        assertThatThrownBy(() -> server.sendTo(target, serverAddress())).isInstanceOf(Exception.class);
    }

    @Test
    void everyOptionHasAValueOfItsType() {
        for (SocketOption<?> option : RdmaDatagramSocket.supportedOptions()) {
            assertThat(client.option(option)).as(option.name()).isInstanceOf(option.type());
        }
    }

    @Test
    void sizesAreSetBeforeBinding() throws IOException {
        client.setOption(RdmaSocketOptions.RDMA_SQSIZE, 8)
                .setOption(RdmaSocketOptions.RDMA_RQSIZE, 9)
                .setOption(RdmaSocketOptions.RDMA_INLINE, 10)
                .setOption(StandardSocketOptions.SO_SNDBUF, 20_000)
                .setOption(StandardSocketOptions.SO_RCVBUF, 1)
                .setOption(StandardSocketOptions.SO_REUSEADDR, true)
                .setOption(StandardSocketOptions.IP_TOS, 0x20);
        assertThat(client.option(RdmaSocketOptions.RDMA_SQSIZE)).isEqualTo(8);
        assertThat(client.option(RdmaSocketOptions.RDMA_RQSIZE)).isEqualTo(9);
        assertThat(client.option(RdmaSocketOptions.RDMA_INLINE)).isEqualTo(10);
        assertThat(client.option(StandardSocketOptions.SO_SNDBUF)).isEqualTo(20_000);
        assertThat(client.option(StandardSocketOptions.SO_RCVBUF)).isEqualTo(1024);
        assertThat(client.option(StandardSocketOptions.SO_REUSEADDR)).isTrue();
        assertThat(client.option(StandardSocketOptions.IP_TOS)).isEqualTo(0x20);
        for (int i = 0; i < 20; i++) {
            client.sendTo(ByteBuffer.wrap(new byte[] {5}), serverAddress());
            InetSocketAddress from = Objects.requireNonNull(server.receiveFrom(target.clear()));
            server.sendTo(ByteBuffer.wrap(new byte[] {6}), from);
            assertThat(client.receiveFrom(target.clear())).isEqualTo(serverAddress());
        }
        assertThatThrownBy(() -> client.setOption(RdmaSocketOptions.RDMA_SQSIZE, 8))
                .isInstanceOf(SocketException.class);
        assertThatThrownBy(() -> client.setOption(StandardSocketOptions.IP_TOS, 256))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.setOption(StandardSocketOptions.TCP_NODELAY, true))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThat(RdmaDatagramSocket.supportedOptions()).hasSize(7);
    }

    @Test
    void invalidCallsFailWithTheReason() throws IOException {
        assertThatThrownBy(() -> client.send(target)).hasMessageContaining("Destination address required");
        assertThatThrownBy(() -> client.receiveFrom(target)).hasMessageContaining("not bound");
        assertThatThrownBy(() -> client.sendTo(target, new InetSocketAddress(InetAddress.ofLiteral("224.0.0.1"), 9)))
                .hasMessageContaining("one host");
        assertThatThrownBy(() -> server.bind(serverAddress())).hasMessageContaining("Already bound");
        int most = RdmaDatagramSocket.maxBytes(serverAddress().getAddress());
        assertThatThrownBy(() -> client.sendTo(ByteBuffer.allocate(most + 1), serverAddress()))
                .hasMessageContaining("Message too long");
        assertThat(client.sendTo(ByteBuffer.allocate(most), serverAddress())).isTrue();
    }
}
