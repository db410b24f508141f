package io.rdma4j.conformance.sockets;

import static java.nio.channels.SelectionKey.OP_ACCEPT;
import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.conformance.sockets.ChannelPair.Kind;
import io.rdma4j.fixture.BlockedThread;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The documented behaviour of {@link Selector}, for those of RDMA and of the platform. */
@Timeout(120)
class SelectorConformanceTest {
    private static final int MANY_CONNECTIONS = TestDevices.load(500);
    private static final int TRANSFER_BYTES = TestDevices.load(8 << 20);

    /** Selects until a key is ready for the wanted operations, and returns its ready operations. */
    private static int await(Selector selector, SelectionKey key, int wanted) throws IOException {
        long giveUp = System.nanoTime() + 10_000_000_000L;
        do {
            selector.selectedKeys().clear();
            selector.select(1000);
            assertThat(System.nanoTime()).as("deadline").isLessThan(giveUp);
        } while (!selector.selectedKeys().contains(key) || (key.readyOps() & wanted) != wanted);
        return key.readyOps();
    }

    private static boolean isReady(Selector selector, SelectionKey key) throws IOException {
        selector.selectedKeys().clear();
        selector.selectNow();
        return selector.selectedKeys().contains(key);
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void connectionBecomesReadyStepByStep(Kind kind) throws IOException {
        try (Selector selector = kind.selector();
                ServerSocketChannel listener = kind.listen();
                SocketChannel client = kind.open()) {
            listener.configureBlocking(false);
            client.configureBlocking(false);
            SelectionKey accepting = listener.register(selector, OP_ACCEPT);
            assertThat(selector.selectNow()).isZero();
            assertThat(isReady(selector, accepting)).isFalse();
            boolean connected = client.connect(listener.getLocalAddress());
            SelectionKey connecting = client.register(selector, OP_CONNECT);
            if (!connected) {
                assertThat(await(selector, connecting, OP_CONNECT)).isEqualTo(OP_CONNECT);
            }
            assertThat(client.finishConnect()).isTrue();
            connecting.interestOps(OP_WRITE | OP_READ);
            assertThat(await(selector, accepting, OP_ACCEPT)).isEqualTo(OP_ACCEPT);
            try (SocketChannel server = listener.accept()) {
                assertThat(isReady(selector, accepting)).isFalse();
                assertThat(await(selector, connecting, OP_WRITE)).isEqualTo(OP_WRITE);
                server.write(ByteBuffer.allocate(3));
                assertThat(await(selector, connecting, OP_READ)).isEqualTo(OP_READ | OP_WRITE);
                // Level triggered: ready until all bytes are read.
                connecting.interestOps(OP_READ);
                client.read(ByteBuffer.allocate(2));
                assertThat(isReady(selector, connecting)).isTrue();
                client.read(ByteBuffer.allocate(2));
                assertThat(isReady(selector, connecting)).isFalse();
                server.shutdownOutput();
                assertThat(await(selector, connecting, OP_READ)).isEqualTo(OP_READ);
                assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
                assertThat(isReady(selector, connecting)).isTrue();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void failedConnectIsReadyToBeFinished(Kind kind) throws IOException {
        InetSocketAddress nobody;
        try (ServerSocketChannel listener = kind.listen()) {
            nobody = (InetSocketAddress) listener.getLocalAddress();
        }
        try (Selector selector = kind.selector();
                SocketChannel client = kind.open()) {
            client.configureBlocking(false);
            SelectionKey key = client.register(selector, OP_CONNECT);
            assertThatThrownBy(() -> {
                        if (!client.connect(nobody)) {
                            await(selector, key, OP_CONNECT);
                        }
                        client.finishConnect();
                    })
                    .isInstanceOf(ConnectException.class);
            assertThat(client.isOpen()).isFalse();
            assertThat(key.isValid()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void fullChannelIsNotWritableUntilItsPeerReads(Kind kind) throws Exception {
        try (Selector selector = kind.selector();
                ChannelPair pair = new ChannelPair(kind)) {
            pair.client.configureBlocking(false);
            SelectionKey key = pair.client.register(selector, OP_WRITE);
            long written = 0;
            int idle = 0;
            while (idle < 20) {
                int count = pair.client.write(ByteBuffer.allocate(50_000));
                written += count;
                idle = count == 0 ? idle + 1 : 0;
                Thread.sleep(count == 0 ? 5 : 0);
            }
            assertThat(isReady(selector, key)).isFalse();
            long read = 0;
            while (read < written) {
                read += pair.server.read(ByteBuffer.allocate(100_000));
            }
            assertThat(await(selector, key, OP_WRITE)).isEqualTo(OP_WRITE);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void blockedSelectionIsEndedByWakeupInterruptAndReadiness(Kind kind) throws Exception {
        try (Selector selector = kind.selector();
                ChannelPair pair = new ChannelPair(kind)) {
            pair.client.configureBlocking(false);
            pair.client.register(selector, OP_READ);
            Semaphore ended = new Semaphore(0);
            CompletableFuture<Integer> selected = new CompletableFuture<>();
            Thread thread = Thread.ofPlatform().daemon().start(() -> {
                try {
                    selector.select();
                    ended.release();
                    selector.select();
                    Thread.interrupted();
                    ended.release();
                    selected.complete(selector.select());
                } catch (IOException | RuntimeException e) {
                    selected.completeExceptionally(e);
                }
            });
            BlockedThread.await(thread);
            selector.wakeup();
            assertThat(ended.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
            BlockedThread.await(thread);
            thread.interrupt();
            assertThat(ended.tryAcquire(10, TimeUnit.SECONDS)).isTrue();
            BlockedThread.await(thread);
            assertThat(selected).isNotDone();
            pair.server.write(ByteBuffer.allocate(1));
            assertThat(selected.get(10, TimeUnit.SECONDS)).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void wakeupBeforeASelectionEndsIt(Kind kind) throws IOException {
        try (Selector selector = kind.selector()) {
            selector.wakeup();
            long start = System.nanoTime();
            assertThat(selector.select(10_000)).isZero();
            assertThat(System.nanoTime() - start).isLessThan(5_000_000_000L);
            start = System.nanoTime();
            assertThat(selector.select(100)).isZero();
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(99_000_000L);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void keysBecomeInvalidByCancelAndByCloseOfTheirChannel(Kind kind) throws IOException {
        Selector selector = kind.selector();
        try (selector;
                ChannelPair pair = new ChannelPair(kind)) {
            assertThatThrownBy(() -> pair.client.register(selector, OP_READ))
                    .isInstanceOf(IllegalBlockingModeException.class);
            pair.client.configureBlocking(false);
            pair.server.configureBlocking(false);
            SelectionKey key = pair.client.register(selector, OP_READ, "attachment");
            assertThat(key.attachment()).isEqualTo("attachment");
            assertThat(pair.client.keyFor(selector)).isSameAs(key);
            assertThatThrownBy(() -> pair.client.register(selector, OP_ACCEPT))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> pair.client.configureBlocking(true))
                    .isInstanceOf(IllegalBlockingModeException.class);
            SelectionKey other = pair.server.register(selector, OP_READ);
            key.cancel();
            assertThat(selector.keys()).contains(key);
            selector.selectNow();
            assertThat(selector.keys()).containsExactly(other);
            assertThatThrownBy(key::interestOps).isInstanceOf(CancelledKeyException.class);
            pair.client.configureBlocking(true);
            pair.server.close();
            assertThat(other.isValid()).isFalse();
        }
        assertThatThrownBy(selector::selectNow).isInstanceOf(ClosedSelectorException.class);
    }

    /** One thread sends and receives on both sides, as they become ready. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void oneThreadTransfersMuchInBothDirectionsAtOnce(Kind kind) throws IOException {
        try (Selector selector = kind.selector();
                ChannelPair pair = new ChannelPair(kind)) {
            byte[] all = new byte[TRANSFER_BYTES];
            new Random(4).nextBytes(all);
            ByteBuffer[] toSend = {ByteBuffer.wrap(all), ByteBuffer.wrap(all)};
            ByteBuffer[] received = {ByteBuffer.allocateDirect(TRANSFER_BYTES), ByteBuffer.allocate(TRANSFER_BYTES)};
            SocketChannel[] sides = {pair.client, pair.server};
            for (int i = 0; i < 2; i++) {
                sides[i].configureBlocking(false);
                sides[i].register(selector, OP_READ | OP_WRITE, i);
            }
            while (received[0].hasRemaining() || received[1].hasRemaining()) {
                assertThat(selector.select(key -> move(key, toSend, received), 20_000))
                        .isPositive();
            }
            for (ByteBuffer each : received) {
                assertThat(each.flip()).isEqualTo(ByteBuffer.wrap(all));
            }
        }
    }

    private static void move(SelectionKey key, ByteBuffer[] toSend, ByteBuffer[] received) {
        int side = (Integer) key.attachment();
        SocketChannel channel = (SocketChannel) key.channel();
        try {
            if (key.isReadable()) {
                channel.read(received[side]);
            }
            if (key.isWritable()) {
                channel.write(toSend[side]);
                if (!toSend[side].hasRemaining()) {
                    key.interestOpsAnd(~OP_WRITE);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A typical server: one thread and one selector for all connections. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void oneSelectorServesManyConnections(Kind kind) throws Exception {
        try (Selector selector = kind.selector();
                ServerSocketChannel listener = kind.listen()) {
            listener.configureBlocking(false);
            listener.register(selector, OP_ACCEPT);
            CompletableFuture<Integer> served = new CompletableFuture<>();
            Thread.ofPlatform().daemon().start(() -> {
                try {
                    served.complete(serve(selector, MANY_CONNECTIONS));
                } catch (IOException | RuntimeException e) {
                    served.completeExceptionally(e);
                }
            });
            for (int i = 0; i < MANY_CONNECTIONS; i++) {
                try (SocketChannel client = kind.connect(listener)) {
                    client.write(ByteBuffer.wrap(new byte[] {(byte) i}));
                    ByteBuffer answer = ByteBuffer.allocate(1);
                    assertThat(client.read(answer)).isEqualTo(1);
                    assertThat(answer.get(0)).isEqualTo((byte) i);
                }
            }
            assertThat(served.get(60, TimeUnit.SECONDS)).isEqualTo(MANY_CONNECTIONS);
        }
    }

    /** Echoes until the given number of connections have ended. */
    private static int serve(Selector selector, int connections) throws IOException {
        int ended = 0;
        while (ended < connections) {
            selector.select();
            for (SelectionKey key : selector.selectedKeys()) {
                if (key.isAcceptable()) {
                    SocketChannel accepted = ((ServerSocketChannel) key.channel()).accept();
                    if (accepted != null) {
                        accepted.configureBlocking(false);
                        accepted.register(selector, OP_READ);
                    }
                } else if (!echo((SocketChannel) key.channel())) {
                    key.channel().close();
                    ended++;
                }
            }
            selector.selectedKeys().clear();
        }
        return ended;
    }

    private static boolean echo(SocketChannel channel) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(16);
        int count = channel.read(buffer);
        channel.write(buffer.flip());
        return count >= 0;
    }
}
