package io.rdma4j.testkit.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.sockets.MessageFlag;
import io.rdma4j.sockets.RdmaSocketFactory;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.sockets.options.AddressRules;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import io.rdma4j.verbs.DeviceContext;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** RDMA sockets between two hosts of a network in memory, each with a separate software stack and factory. */
@Timeout(60)
class RdmaSocketFactoryTest {
    private static final StandardProtocolFamily FAMILY = StandardProtocolFamily.INET;
    private static final byte[] HELLO = "hello".getBytes(UTF_8);

    private final TestNetwork network = new TestNetwork();
    private final TestHost serverHost = network.addHost("10.0.0.1");
    private final TestHost clientHost = network.addHost("10.0.0.2");
    private final RdmaSocketFactory server = new RdmaSocketFactory(serverHost.connectionManager());
    private final RdmaSocketFactory client = new RdmaSocketFactory(clientHost.connectionManager());

    /** Closing the network also fails if a socket has left an identifier open. */
    @AfterEach
    void close() {
        server.close();
        client.close();
        network.close();
    }

    private InetSocketAddress anyPort() {
        return new InetSocketAddress(serverHost.address(), 0);
    }

    private static ByteBuffer full(SocketChannel channel, int bytes) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(bytes);
        while (target.hasRemaining() && channel.read(target) >= 0) {
            // More bytes may follow.
        }
        return target.flip();
    }

    @Test
    void channelsExchangeData() throws Exception {
        try (ServerSocketChannel listener =
                        server.openServerSocketChannel(FAMILY).bind(anyPort());
                SocketChannel left = client.openSocketChannel(FAMILY)) {
            left.connect(listener.getLocalAddress());
            try (SocketChannel right = listener.accept()) {
                assertThat(((InetSocketAddress) right.getRemoteAddress()).getAddress())
                        .isEqualTo(clientHost.address());
                left.write(ByteBuffer.wrap(HELLO));
                assertThat(full(right, HELLO.length)).isEqualTo(ByteBuffer.wrap(HELLO));
                right.write(ByteBuffer.wrap(HELLO));
                assertThat(full(left, HELLO.length)).isEqualTo(ByteBuffer.wrap(HELLO));
            }
        }
    }

    @Test
    void selectorServesChannelsOfBothHosts() throws IOException {
        try (Selector selector = server.openSelector();
                ServerSocketChannel listener =
                        server.openServerSocketChannel(FAMILY).bind(anyPort());
                SocketChannel left = client.openSocketChannel(FAMILY)) {
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
            left.configureBlocking(false);
            left.register(selector, SelectionKey.OP_CONNECT);
            left.connect(listener.getLocalAddress());
            SocketChannel right = null;
            while (right == null || !left.isConnected()) {
                selector.select();
                right = right == null ? listener.accept() : right;
                if (left.isConnectionPending()) {
                    left.finishConnect();
                }
                selector.selectedKeys().clear();
            }
            try (SocketChannel accepted = right) {
                accepted.configureBlocking(false);
                SelectionKey readable = accepted.register(selector, SelectionKey.OP_READ);
                left.keyFor(selector).interestOps(0);
                left.write(ByteBuffer.wrap(HELLO));
                while (!readable.isReadable()) {
                    selector.select();
                }
                assertThat(full(accepted, HELLO.length)).isEqualTo(ByteBuffer.wrap(HELLO));
            }
        }
    }

    @Test
    void socketsExchangeData() throws Exception {
        try (ServerSocket listener = server.openServerSocket(FAMILY);
                Socket left = client.openSocket(FAMILY)) {
            listener.bind(anyPort());
            left.connect(listener.getLocalSocketAddress());
            try (Socket right = listener.accept()) {
                right.getOutputStream().write(HELLO);
                assertThat(left.getInputStream().readNBytes(HELLO.length)).isEqualTo(HELLO);
            }
        }
    }

    @Test
    void streamSocketsExchangeData() throws Exception {
        try (RdmaStreamSocket listener = server.openStreamSocket();
                RdmaStreamSocket left = client.openStreamSocket()) {
            listener.bind(anyPort());
            listener.listen(1);
            left.connect(Objects.requireNonNull(listener.localAddress()));
            CompletableFuture<ByteBuffer> received = new CompletableFuture<>();
            Thread.ofPlatform().start(() -> received.completeAsync(() -> receive(listener), Runnable::run));
            left.send(ByteBuffer.wrap(HELLO));
            assertThat(received.get(30, TimeUnit.SECONDS)).isEqualTo(ByteBuffer.wrap(HELLO));
        }
    }

    private static ByteBuffer receive(RdmaStreamSocket listener) {
        ByteBuffer target = ByteBuffer.allocate(HELLO.length);
        try (RdmaStreamSocket right = Objects.requireNonNull(listener.accept())) {
            right.receive(target, Set.of(MessageFlag.WAIT_ALL));
            return target.flip();
        } catch (IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    @Test
    void channelsOfTheProviderUseTheFactorysDevices() throws IOException {
        try (ServerSocketChannel listener = server.selectorProvider(AddressRules.RDMA_ONLY)
                        .openServerSocketChannel()
                        .bind(anyPort());
                SocketChannel left =
                        client.selectorProvider(AddressRules.RDMA_ONLY).openSocketChannel()) {
            assertThat(left.connect(listener.getLocalAddress())).isTrue();
        }
    }

    @Test
    void portWithoutListenerRefusesTheConnection() throws IOException {
        try (ServerSocketChannel other = server.openServerSocketChannel(FAMILY).bind(anyPort());
                Socket left = client.openSocket(FAMILY)) {
            assertThat(other.isOpen()).isTrue();
            assertThatThrownBy(() -> left.connect(new InetSocketAddress(serverHost.address(), 9)))
                    .isInstanceOf(ConnectException.class);
        }
    }

    @Test
    void closedFactoryRefusesStreamSockets() throws IOException {
        client.close();
        try (Socket left = client.openSocket(FAMILY)) {
            assertThatThrownBy(() -> left.connect(new InetSocketAddress(serverHost.address(), 9)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("closed");
        }
    }

    /** The peer still exists, but no packet reaches it. */
    @Test
    void deadPeerOfAnIdleConnectionIsNoticedByKeepAlives() throws IOException {
        try (ServerSocketChannel listener =
                        server.openServerSocketChannel(FAMILY).bind(anyPort());
                SocketChannel left = client.openSocketChannel(FAMILY)) {
            left.connect(listener.getLocalAddress());
            left.setOption(StandardSocketOptions.SO_KEEPALIVE, true)
                    .setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 1)
                    .setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 1)
                    .setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 2);
            try (SocketChannel right = listener.accept()) {
                right.write(ByteBuffer.wrap(HELLO));
                assertThat(full(left, HELLO.length)).isEqualTo(ByteBuffer.wrap(HELLO));
                network.conditions("loss=100%");
                assertThatThrownBy(() -> left.read(ByteBuffer.allocate(1)))
                        .hasMessage("Connection reset (the peer has not answered a keep-alive for 2 s)");
            } finally {
                network.conditions("");
            }
        }
    }

    @Test
    void answeredKeepAlivesKeepAConnection() throws Exception {
        try (ServerSocketChannel listener =
                        server.openServerSocketChannel(FAMILY).bind(anyPort());
                SocketChannel left = client.openSocketChannel(FAMILY)) {
            left.connect(listener.getLocalAddress());
            try (SocketChannel right = listener.accept();
                    DeviceContext device = clientHost.device().open()) {
                long before = sentPackets(device);
                left.setOption(StandardSocketOptions.SO_KEEPALIVE, true)
                        .setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 1)
                        .setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 1)
                        .setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 1);
                while (sentPackets(device) < before + 3) {
                    Thread.sleep(10);
                }
                right.write(ByteBuffer.wrap(HELLO));
                assertThat(full(left, HELLO.length)).isEqualTo(ByteBuffer.wrap(HELLO));
            }
        }
    }

    private static long sentPackets(DeviceContext device) {
        return Objects.requireNonNull(device.counters().get("sent_pkts"));
    }
}
