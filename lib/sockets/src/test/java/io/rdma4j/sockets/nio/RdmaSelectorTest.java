package io.rdma4j.sockets.nio;

import static java.nio.channels.SelectionKey.OP_ACCEPT;
import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the selector: with RDMA channels, with ordinary ones, and with both. */
@Timeout(60)
class RdmaSelectorTest {
    private static final long PATIENCE_MILLIS = 10_000;

    private static SelectorProvider provider(String transport) {
        return new RdmaSelectorProvider(AddressRules.parse("*=" + transport));
    }

    private static void write(SocketChannel channel, int... bytes) throws IOException {
        ByteBuffer source = ByteBuffer.allocate(bytes.length);
        for (int each : bytes) {
            source.put((byte) each);
        }
        source.flip();
        while (source.hasRemaining()) {
            channel.write(source);
        }
    }

    private static int read(SocketChannel channel) throws IOException {
        return channel.read(ByteBuffer.allocate(1000));
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void keyIsReadyWhileDataIsAvailable(String transport) throws IOException {
        try (Loopback pair = new Loopback(provider(transport));
                Selector selector = pair.selector(0, OP_READ)) {
            assertThat(selector.select(20)).isZero();
            write(pair.client, 1, 2);
            assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
            SelectionKey key = selector.selectedKeys().iterator().next();
            assertThat(key.channel()).isSameAs(pair.server);
            assertThat(key.isReadable() && !key.isWritable()).isTrue();
            assertThat(selector.selectNow()).as("already selected, no change").isZero();
            selector.selectedKeys().clear();
            assertThat(selector.selectNow()).isEqualTo(1);
            selector.selectedKeys().clear();
            assertThat(read(pair.server)).isEqualTo(2);
            assertThat(selector.selectNow()).isZero();
            write(pair.client, 3);
            assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void selectNowReportsReadyChannels(String transport) throws IOException {
        try (Loopback pair = new Loopback(provider(transport));
                Selector selector = pair.selector(OP_READ, OP_READ)) {
            for (int round = 0; round < 10; round++) {
                assertThat(selector.selectNow()).isZero();
                write(pair.client, 1);
                long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
                while (selector.selectNow() == 0) {
                    assertThat(System.nanoTime()).isLessThan(deadline);
                }
                selector.selectedKeys().clear();
                assertThat(read(pair.server)).isEqualTo(1);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void fullChannelIsNotWritableUntilThePeerReads(String transport) throws Exception {
        try (Loopback pair = new Loopback(provider(transport));
                Selector selector = pair.selector(OP_WRITE, 0)) {
            assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
            do {
                // The channel becomes writable again while the peer's buffers fill.
                assertThat(System.nanoTime()).as("the channel gets full").isLessThan(deadline);
                selector.selectedKeys().clear();
                fill(pair.client);
            } while (selector.select(50) > 0);
            Thread reader = Thread.ofVirtual().start(() -> drain(pair.server));
            assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
            pair.client.close();
            reader.join();
        }
    }

    private static void fill(SocketChannel channel) throws IOException {
        while (channel.write(ByteBuffer.allocate(65_536)) > 0) {
            // until it is full
        }
    }

    private static void drain(SocketChannel channel) {
        try {
            while (read(channel) >= 0) {
                Thread.onSpinWait();
            }
        } catch (IOException closed) {
            // or the stream ends
            return;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp", "either"})
    void oneThreadWithOneSelectorConnectsBothEnds(String transport) throws IOException {
        SelectorProvider provider = provider(transport);
        try (Selector selector = provider.openSelector();
                ServerSocketChannel listener = provider.openServerSocketChannel();
                SocketChannel client = provider.openSocketChannel()) {
            listener.bind(new InetSocketAddress(Loopback.address(), 0));
            listener.configureBlocking(false).register(selector, OP_ACCEPT, "listener");
            SelectionKey connecting = client.configureBlocking(false).register(selector, OP_CONNECT, "client");
            assertThat(selector.selectNow())
                    .as("neither connected nor connecting")
                    .isZero();
            boolean atOnce = client.connect(Objects.requireNonNull(listener.getLocalAddress()));
            List<Object> seen = new ArrayList<>(atOnce ? List.of("client") : List.of());
            SocketChannel[] accepted = new SocketChannel[1];
            while (!client.isConnected() && !atOnce || accepted[0] == null) {
                assertThat(selector.select(key -> onReady(key, seen, accepted), PATIENCE_MILLIS))
                        .isPositive();
            }
            assertThat(seen).containsOnly("listener", "client");
            connecting.interestOps(OP_READ);
            try (SocketChannel server = accepted[0]) {
                write(server, 5);
                assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
                assertThat(read(client)).isEqualTo(1);
            }
        }
    }

    private static void onReady(SelectionKey key, List<Object> seen, SocketChannel[] accepted) {
        seen.add(Objects.requireNonNull(key.attachment()));
        try {
            if (key.isAcceptable() && key.channel() instanceof ServerSocketChannel listener) {
                SocketChannel made = listener.accept();
                accepted[0] = made == null ? accepted[0] : made;
            } else if (key.isConnectable() && key.channel() instanceof SocketChannel client) {
                assertThat(client.finishConnect()).isTrue();
                key.interestOps(0);
            }
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp", "either"})
    void failedConnectIsSelectedAndReported(String transport) throws IOException {
        try (Loopback others = new Loopback(provider("rdma"));
                SocketChannel client = provider(transport).openSocketChannel();
                Selector selector = client.provider().openSelector()) {
            InetSocketAddress nearby =
                    new InetSocketAddress(others.listener.socket().getInetAddress(), 9);
            client.configureBlocking(false).register(selector, OP_CONNECT);
            assertThatThrownBy(() -> finish(client, selector, nearby)).isInstanceOf(ConnectException.class);
            assertThat(client.isOpen()).isFalse();
            assertThat(selector.selectNow()).isZero();
            assertThat(selector.keys()).isEmpty();
        }
    }

    /** The attempt may be refused immediately or later. */
    private static void finish(SocketChannel client, Selector selector, InetSocketAddress to) throws IOException {
        client.connect(to);
        assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
        client.finishConnect();
    }

    @Test
    void nonBlockingConnectFallsBackToTcp() throws IOException {
        try (Loopback others = new Loopback(provider("rdma"));
                ServerSocketChannel listener = provider("tcp").openServerSocketChannel();
                SocketChannel client = provider("either").openSocketChannel();
                Selector selector = client.provider().openSelector()) {
            listener.bind(new InetSocketAddress(others.listener.socket().getInetAddress(), 0));
            SelectionKey key = client.configureBlocking(false).register(selector, OP_CONNECT);
            assertThat(client.connect(Objects.requireNonNull(listener.getLocalAddress())))
                    .isFalse();
            assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
            assertThat(client.finishConnect()).isTrue();
            selector.selectedKeys().clear();
            key.interestOps(OP_READ);
            assertThat(selector.selectNow()).isZero();
            try (SocketChannel server = listener.accept()) {
                write(server, 1);
                assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
                assertThat(read(client)).isEqualTo(1);
            }
        }
    }

    @Test
    void ordinaryChannelsAreSelectedTogetherWithRdmaChannels() throws IOException {
        SelectorProvider provider = provider("rdma");
        try (Loopback pair = new Loopback(provider);
                Selector selector = pair.selector(0, OP_READ)) {
            DatagramChannel datagrams = provider.openDatagramChannel();
            Pipe pipe = provider.openPipe();
            pipe.source().configureBlocking(false).register(selector, OP_READ, "pipe");
            datagrams.bind(new InetSocketAddress(Loopback.address(), 0));
            datagrams.configureBlocking(false).register(selector, OP_READ, "datagrams");
            for (int round = 0; round < 20; round++) {
                assertThat(selector.select(1)).isZero();
                pipe.sink().write(ByteBuffer.allocate(1));
                expect(selector, pipe.source());
                pipe.source().read(ByteBuffer.allocate(9));
                write(pair.client, 1);
                expect(selector, pair.server);
                read(pair.server);
                datagrams.send(ByteBuffer.allocate(1), datagrams.getLocalAddress());
                expect(selector, datagrams);
                datagrams.receive(ByteBuffer.allocate(9));
            }
            pipe.source().close();
            datagrams.close();
            write(pair.client, 1);
            expect(selector, pair.server);
            assertThat(selector.keys()).hasSize(2);
            pipe.sink().close();
        }
    }

    private static void expect(Selector selector, Object channel) throws IOException {
        assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
        assertThat(selector.selectedKeys())
                .extracting(SelectionKey::channel)
                .containsOnly((java.nio.channels.SelectableChannel) channel);
        selector.selectedKeys().clear();
    }

    @Test
    void channelsOfSeveralDevicesAreSelected() throws IOException {
        List<InetAddress> addresses = NetworkInterface.networkInterfaces()
                .flatMap(NetworkInterface::inetAddresses)
                .filter(each -> each instanceof Inet4Address && !each.isLoopbackAddress())
                .limit(1)
                .toList();
        assumeThat(addresses)
                .as("an address in addition to the loopback addresses")
                .isNotEmpty();
        SelectorProvider provider = provider("rdma");
        try (Loopback one = new Loopback(provider);
                Loopback other = new Loopback(provider, addresses.getFirst());
                Selector selector = one.selector(OP_READ, OP_READ)) {
            other.server.configureBlocking(false).register(selector, OP_READ);
            for (int round = 0; round < 20; round++) {
                write(one.client, 1);
                expect(selector, one.server);
                assertThat(read(one.server)).isEqualTo(1);
                assertThat(selector.select(1)).isZero();
                write(other.client, 1);
                expect(selector, other.server);
                assertThat(read(other.server)).isEqualTo(1);
            }
        }
    }

    @Test
    void wakeupInterruptAndCloseEndTheWait() throws Exception {
        try (Loopback pair = new Loopback(provider("rdma"));
                Loopback tcp = new Loopback(provider("tcp"))) {
            for (Loopback each : List.of(pair, tcp)) {
                Selector selector = each.selector(OP_READ, OP_READ);
                selector.wakeup();
                assertThat(selector.select()).isZero();
                selector.wakeup();
                selector.selectNow();
                assertThat(selector.select(20)).as("a wake-up is used once").isZero();
                assertThat(whileSelecting(selector, thread -> selector.wakeup()))
                        .isEqualTo("0 false");
                assertThat(whileSelecting(selector, Thread::interrupt)).isEqualTo("0 true");
                assertThat(whileSelecting(selector, thread -> close(selector))).startsWith("0 false");
                assertThatThrownBy(selector::selectNow).isInstanceOf(ClosedSelectorException.class);
            }
        }
    }

    private static void close(Selector selector) {
        try {
            selector.close();
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static String whileSelecting(Selector selector, java.util.function.Consumer<Thread> action)
            throws Exception {
        CompletableFuture<String> result = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            try {
                int count = selector.select();
                result.complete(count + " " + Thread.currentThread().isInterrupted());
            } catch (IOException | RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
        BlockedThread.await(thread);
        action.accept(thread);
        return result.get(10, TimeUnit.SECONDS);
    }

    @Test
    void keysAreCancelledWithTheirChannel() throws IOException {
        try (Loopback pair = new Loopback(provider("rdma"));
                Selector selector = pair.selector(OP_READ, OP_READ)) {
            SelectionKey key = Objects.requireNonNull(pair.client.keyFor(selector));
            assertThatThrownBy(() -> pair.client.configureBlocking(true))
                    .isInstanceOf(IllegalBlockingModeException.class);
            assertThatThrownBy(() -> key.interestOps(OP_ACCEPT)).isInstanceOf(IllegalArgumentException.class);
            pair.client.close();
            assertThat(key.isValid()).isFalse();
            assertThatThrownBy(key::readyOps).isInstanceOf(CancelledKeyException.class);
            assertThat(selector.select(PATIENCE_MILLIS))
                    .as("the end of the stream")
                    .isEqualTo(1);
            assertThat(selector.keys()).containsOnly(pair.server.keyFor(selector));
            assertThat(read(pair.server)).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void channelWithCancelledKeyCanBeMadeBlocking(String transport) throws IOException {
        try (Loopback pair = new Loopback(provider(transport));
                Selector selector = pair.selector(OP_READ, OP_READ)) {
            selector.selectNow();
            Objects.requireNonNull(pair.server.keyFor(selector)).cancel();
            pair.server.configureBlocking(true);
            write(pair.client, 1);
            assertThat(read(pair.server)).isEqualTo(1);
            selector.selectNow();
            pair.server.configureBlocking(false).register(selector, OP_READ);
            write(pair.client, 1);
            assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
        }
    }

    @Test
    void readyChannelAmongAThousandIdleOnesIsSelected() throws IOException {
        SelectorProvider provider = provider("rdma");
        List<AutoCloseable> all = new ArrayList<>();
        try (Selector selector = provider.openSelector();
                Loopback pair = new Loopback(provider)) {
            for (int i = 0; i < 1000; i++) {
                SocketChannel idle = provider.openSocketChannel();
                idle.configureBlocking(false).register(selector, OP_CONNECT);
                all.add(idle);
            }
            pair.server.configureBlocking(false).register(selector, OP_READ);
            assertThat(selector.selectNow()).isZero();
            for (int round = 0; round < 100; round++) {
                write(pair.client, 1);
                expect(selector, pair.server);
                assertThat(read(pair.server)).isEqualTo(1);
            }
        } finally {
            for (AutoCloseable each : all) {
                close(each);
            }
        }
    }

    private static void close(AutoCloseable each) {
        try {
            each.close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
