package io.rdma4j.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NoConnectionPendingException;
import java.nio.channels.NotYetBoundException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of blocking channels, over RDMA, and over TCP if the rules require it. */
@Timeout(60)
class RdmaChannelTest {
    private static SelectorProvider provider(String transport) {
        return new RdmaSelectorProvider(AddressRules.parse("*=" + transport));
    }

    private static void fill(SocketChannel from, byte[] bytes) {
        try {
            assertThat(from.write(ByteBuffer.wrap(bytes))).isEqualTo(bytes.length);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static byte[] drain(SocketChannel to, int count) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(count);
        while (target.hasRemaining() && to.read(target) >= 0) {
            // until it is full, or the end
        }
        return target.array();
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp", "either"})
    void blockingWriteWritesAllAndReadsAreInOrder(String transport) throws Exception {
        byte[] bytes = new byte[2_000_000];
        ThreadLocalRandom.current().nextBytes(bytes);
        try (Loopback pair = new Loopback(provider(transport))) {
            Thread writer = Thread.ofVirtual().start(() -> fill(pair.client, bytes));
            assertThat(drain(pair.server, bytes.length)).isEqualTo(bytes);
            writer.join();
            Thread back = Thread.ofPlatform().start(() -> fill(pair.server, bytes));
            assertThat(drain(pair.client, bytes.length)).isEqualTo(bytes);
            back.join();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp", "either"})
    void bothEndsKnowEachOther(String transport) throws IOException {
        try (Loopback pair = new Loopback(provider(transport))) {
            assertThat(pair.client.getRemoteAddress()).isEqualTo(pair.server.getLocalAddress());
            assertThat(pair.server.getRemoteAddress()).isEqualTo(pair.client.getLocalAddress());
            assertThat(pair.client.isConnected() && pair.server.isConnected()).isTrue();
            assertThat(pair.client.socket().getPort())
                    .isEqualTo(pair.listener.socket().getLocalPort());
            assertThat(pair.server.provider()).isSameAs(pair.listener.provider());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void buffersAreGatheredAndScattered(String transport) throws IOException {
        try (Loopback pair = new Loopback(provider(transport))) {
            ByteBuffer[] sources = {
                ByteBuffer.wrap(new byte[] {1, 2}), ByteBuffer.allocate(0), ByteBuffer.wrap(new byte[] {3, 4, 5})
            };
            assertThat(pair.client.write(sources)).isEqualTo(5);
            ByteBuffer[] targets = {ByteBuffer.allocate(0), ByteBuffer.allocate(1), ByteBuffer.allocate(9)};
            long count = 0;
            while (count < 5) {
                count += pair.server.read(targets, 1, 2);
            }
            assertThat(targets[1].array()).containsExactly(1);
            assertThat(targets[2].array()).startsWith(2, 3, 4, 5);
            assertThat(pair.server.read(ByteBuffer.allocate(0))).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void oneDirectionEndsAndTheOtherContinues(String transport) throws IOException {
        try (Loopback pair = new Loopback(provider(transport))) {
            fill(pair.client, new byte[] {7});
            pair.client.shutdownOutput();
            assertThat(drain(pair.server, 1)).containsExactly(7);
            assertThat(pair.server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThatThrownBy(() -> pair.client.write(ByteBuffer.allocate(1)))
                    .isInstanceOf(ClosedChannelException.class);
            fill(pair.server, new byte[] {8});
            assertThat(drain(pair.client, 1)).containsExactly(8);
            pair.client.shutdownInput();
            assertThat(pair.client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThat(pair.client.socket().isInputShutdown()
                            && pair.client.socket().isOutputShutdown())
                    .isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void readOfAClosedChannelFails(String transport) throws Exception {
        try (Loopback pair = new Loopback(provider(transport))) {
            CompletableFuture<Throwable> seen = startBlocked(() -> pair.client.read(ByteBuffer.allocate(1)));
            pair.client.close();
            assertThat(seen.get(10, TimeUnit.SECONDS)).isExactlyInstanceOf(AsynchronousCloseException.class);
            assertThatThrownBy(() -> pair.client.read(ByteBuffer.allocate(1)))
                    .isInstanceOf(ClosedChannelException.class);
        }
    }

    private interface Action {
        void run() throws Exception;
    }

    /** Starts an action in a thread, and waits until it blocks. */
    private static CompletableFuture<Throwable> startBlocked(Action action) throws InterruptedException {
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        BlockedThread.await(Thread.ofVirtual().start(() -> thrown.complete(catchThrowable(action::run))));
        return thrown;
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp", "either"})
    void interruptOfABlockedThreadClosesItsChannel(String transport) throws Exception {
        try (Loopback pair = new Loopback(provider(transport));
                Loopback other = new Loopback(provider(transport))) {
            interrupts(() -> pair.client.read(ByteBuffer.allocate(1)), pair.client);
            interrupts(() -> fillIndefinitely(other.server), other.server);
            interrupts(pair.listener::accept, pair.listener);
        }
    }

    private static void fillIndefinitely(SocketChannel channel) throws IOException {
        while (channel.isOpen()) {
            channel.write(ByteBuffer.allocate(100_000));
        }
    }

    private static void interrupts(Action action, java.nio.channels.Channel channel) throws Exception {
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        Thread thread = Thread.ofPlatform().start(() -> {
            Throwable seen = catchThrowable(action::run);
            thrown.complete(Thread.currentThread().isInterrupted() ? seen : new AssertionError("no flag", seen));
        });
        BlockedThread.await(thread);
        thread.interrupt();
        assertThat(thrown.get(10, TimeUnit.SECONDS)).isInstanceOf(ClosedByInterruptException.class);
        assertThat(channel.isOpen()).isFalse();
    }

    @Test
    void blockedWriterFailsWhenItsOutputIsShutDown() throws Exception {
        try (Loopback pair = new Loopback(provider("rdma"))) {
            CompletableFuture<Throwable> seen = startBlocked(() -> fillIndefinitely(pair.client));
            pair.client.shutdownOutput();
            assertThat(seen.get(10, TimeUnit.SECONDS)).isInstanceOf(ClosedChannelException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp", "either"})
    void connectingWithoutListenerIsRefusedAndClosesTheChannel(String transport) throws IOException {
        try (Loopback others = new Loopback(provider("rdma"));
                SocketChannel channel = provider(transport).openSocketChannel()) {
            InetSocketAddress nearby =
                    new InetSocketAddress(others.listener.socket().getInetAddress(), 9);
            assertThatThrownBy(() -> channel.connect(nearby)).isInstanceOf(ConnectException.class);
            assertThat(channel.isOpen()).isFalse();
        }
    }

    @Test
    void listenerOverTcpOnlyIsReachedByTheRules() throws IOException {
        try (Loopback others = new Loopback(provider("rdma"));
                ServerSocketChannel listener = provider("tcp").openServerSocketChannel();
                SocketChannel either = provider("either").openSocketChannel();
                SocketChannel rdma = provider("rdma").openSocketChannel()) {
            listener.bind(new InetSocketAddress(others.listener.socket().getInetAddress(), 0));
            InetSocketAddress there = (InetSocketAddress) Objects.requireNonNull(listener.getLocalAddress());
            assertThat(either.connect(there)).isTrue();
            assertThatThrownBy(() -> rdma.connect(there)).isInstanceOf(ConnectException.class);
            try (SocketChannel accepted = listener.accept()) {
                fill(accepted, new byte[] {1});
                assertThat(drain(either, 1)).containsExactly(1);
            }
        }
    }

    @Test
    void listenerOverBothIsReachedOverBoth() throws IOException {
        try (ServerSocketChannel listener = provider("either").openServerSocketChannel();
                SocketChannel tcp = provider("tcp").openSocketChannel();
                SocketChannel rdma = provider("rdma").openSocketChannel()) {
            listener.bind(new InetSocketAddress(Loopback.address(), 0));
            InetSocketAddress there = (InetSocketAddress) Objects.requireNonNull(listener.getLocalAddress());
            tcp.connect(there);
            rdma.connect(there);
            try (SocketChannel first = listener.accept();
                    SocketChannel second = listener.accept()) {
                fill(first, new byte[] {1});
                fill(second, new byte[] {1});
                assertThat(drain(tcp, 1)).containsExactly(1);
                assertThat(drain(rdma, 1)).containsExactly(1);
            }
        }
    }

    @Test
    void callsInTheWrongStateAreRejected() throws IOException {
        try (SocketChannel channel = provider("rdma").openSocketChannel();
                ServerSocketChannel unbound = provider("rdma").openServerSocketChannel();
                Loopback pair = new Loopback(provider("rdma"))) {
            assertThatThrownBy(() -> channel.read(ByteBuffer.allocate(1))).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(() -> channel.write(ByteBuffer.allocate(1)))
                    .isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(channel::finishConnect).isInstanceOf(NoConnectionPendingException.class);
            assertThatThrownBy(unbound::accept).isInstanceOf(NotYetBoundException.class);
            assertThatThrownBy(() -> channel.connect(InetSocketAddress.createUnresolved("nowhere.invalid", 1)))
                    .isInstanceOf(UnresolvedAddressException.class);
            assertThatThrownBy(() -> pair.client.connect(Objects.requireNonNull(pair.listener.getLocalAddress())))
                    .isInstanceOf(AlreadyConnectedException.class);
            channel.bind(new InetSocketAddress(Loopback.address(), 0));
            assertThatThrownBy(() -> channel.bind(null)).isInstanceOf(AlreadyBoundException.class);
            channel.configureBlocking(false);
            assertThat(channel.connect(Objects.requireNonNull(pair.listener.getLocalAddress())))
                    .isFalse();
            assertThat(channel.isConnectionPending()).isTrue();
            assertThatThrownBy(() -> channel.connect(Objects.requireNonNull(pair.listener.getLocalAddress())))
                    .isInstanceOf(ConnectionPendingException.class);
            channel.configureBlocking(true);
            assertThat(channel.finishConnect()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void socketOfAChannelSharesItsState(String transport) throws IOException {
        try (Loopback pair = new Loopback(provider(transport))) {
            pair.client.socket().getOutputStream().write(new byte[] {1, 2, 3});
            assertThat(pair.server.socket().getInputStream().readNBytes(3)).containsExactly(1, 2, 3);
            pair.server.socket().setSoTimeout(50);
            assertThatThrownBy(() -> pair.server.socket().getInputStream().read())
                    .isInstanceOf(SocketTimeoutException.class);
            pair.listener.socket().setSoTimeout(50);
            assertThatThrownBy(() -> pair.listener.socket().accept()).isInstanceOf(SocketTimeoutException.class);
            pair.client.socket().setTcpNoDelay(true);
            assertThat(pair.client.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            pair.client.socket().close();
            assertThat(pair.client.isOpen()).isFalse();
            assertThat(pair.server.socket().getInputStream().read()).isEqualTo(-1);
        }
    }

    @Test
    void unreachableChannelIsClosed() throws Exception {
        try (ServerSocketChannel listener = provider("rdma").openServerSocketChannel()) {
            listener.bind(new InetSocketAddress(Loopback.address(), 0));
            connectAndDrop(listener);
            try (SocketChannel server = listener.accept()) {
                server.configureBlocking(false);
                long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
                while (server.read(ByteBuffer.allocate(1)) == 0) {
                    System.gc();
                    Thread.sleep(20);
                    assertThat(System.nanoTime()).isLessThan(deadline);
                }
            }
        }
    }

    private static void connectAndDrop(ServerSocketChannel listener) throws IOException {
        SocketChannel client = listener.provider().openSocketChannel();
        assertThat(client.connect(Objects.requireNonNull(listener.getLocalAddress())))
                .isTrue();
    }

    @Test
    void optionsAreStoredUntilTheTransportIsKnown() throws IOException {
        try (SocketChannel channel = provider("tcp").openSocketChannel();
                ServerSocketChannel listener = provider("tcp").openServerSocketChannel()) {
            listener.bind(new InetSocketAddress(Loopback.address(), 0));
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            channel.connect(Objects.requireNonNull(listener.getLocalAddress()));
            assertThat(channel.getOption(StandardSocketOptions.TCP_NODELAY)).isTrue();
            assertThatThrownBy(() -> listener.setOption(StandardSocketOptions.TCP_NODELAY, true))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }
}
