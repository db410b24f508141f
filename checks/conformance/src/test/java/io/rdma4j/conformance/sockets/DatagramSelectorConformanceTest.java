package io.rdma4j.conformance.sockets;

import static io.rdma4j.conformance.sockets.DatagramChannels.datagram;
import static io.rdma4j.conformance.sockets.DatagramChannels.send;
import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.conformance.sockets.DatagramChannels.Kind;
import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.sockets.RdmaSockets;
import java.io.IOException;
import java.net.PortUnreachableException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.IllegalSelectorException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The documented behaviour of {@link Selector} with datagram channels, over RDMA and over UDP. */
@Timeout(60)
class DatagramSelectorConformanceTest {
    private static final int ROUNDS = TestDevices.load(2000);

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
    void channelIsReadableUntilAllDatagramsAreRead(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind);
                Selector selector = kind.selector()) {
            DatagramChannel[] pair = channels.connected();
            assertThatThrownBy(() -> pair[0].register(selector, OP_READ))
                    .isInstanceOf(IllegalBlockingModeException.class);
            pair[0].configureBlocking(false);
            assertThatThrownBy(() -> pair[0].register(selector, OP_CONNECT))
                    .isInstanceOf(IllegalArgumentException.class);
            SelectionKey key = pair[0].register(selector, OP_READ);
            assertThat(selector.select(20)).isZero();
            for (int round = 0; round < 3; round++) {
                pair[1].write(datagram(1));
                pair[1].write(datagram(2));
                assertThat(await(selector, key, OP_READ)).isEqualTo(OP_READ);
                assertThat(isReady(selector, key)).as("level triggered").isTrue();
                ByteBuffer target = ByteBuffer.allocate(10);
                while (target.position() < 3) {
                    pair[0].read(target);
                }
                assertThat(isReady(selector, key)).isFalse();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void channelIsWritableFromTheStart(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind);
                Selector selector = kind.selector()) {
            DatagramChannel unbound = channels.open();
            unbound.configureBlocking(false);
            SelectionKey key = unbound.register(selector, OP_READ | OP_WRITE);
            assertThat(await(selector, key, OP_WRITE)).isEqualTo(OP_WRITE);
            DatagramChannel peer = channels.bound();
            send(unbound, datagram(3), peer);
            peer.send(datagram(4), peer.receive(ByteBuffer.allocate(10)));
            assertThat(await(selector, key, OP_READ)).isEqualTo(OP_READ | OP_WRITE);
            assertThat(unbound.receive(ByteBuffer.allocate(10))).isEqualTo(peer.getLocalAddress());
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void datagramEndsABlockedSelection(Kind kind) throws Exception {
        try (DatagramChannels channels = new DatagramChannels(kind);
                Selector selector = kind.selector()) {
            DatagramChannel own = channels.bound();
            DatagramChannel peer = channels.bound();
            own.configureBlocking(false);
            own.register(selector, OP_READ);
            for (int round = 0; round < 5; round++) {
                CompletableFuture<Integer> selected = new CompletableFuture<>();
                Thread thread = Thread.ofPlatform().daemon().start(() -> {
                    try {
                        selected.complete(selector.select());
                    } catch (IOException | RuntimeException e) {
                        selected.completeExceptionally(e);
                    }
                });
                BlockedThread.await(thread);
                assertThat(selected).isNotDone();
                send(peer, datagram(5), own);
                assertThat(selected.get(10, TimeUnit.SECONDS)).isEqualTo(1);
                assertThat(own.receive(ByteBuffer.allocate(10))).isEqualTo(peer.getLocalAddress());
                selector.selectedKeys().clear();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void channelIsReadableWhenItsPeerPortIsUnreachable(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind);
                Selector selector = kind.selector()) {
            DatagramChannel own = channels.open().connect(channels.nobody());
            own.configureBlocking(false);
            SelectionKey key = own.register(selector, OP_READ);
            own.write(datagram(1));
            await(selector, key, OP_READ);
            assertThatThrownBy(() -> own.read(ByteBuffer.allocate(1))).isInstanceOf(PortUnreachableException.class);
            assertThat(isReady(selector, key)).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void closeOfAChannelCancelsItsKeys(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind);
                Selector selector = kind.selector()) {
            DatagramChannel own = channels.bound();
            own.configureBlocking(false);
            SelectionKey key = own.register(selector, OP_READ, "attachment");
            assertThat(key.attachment()).isEqualTo("attachment");
            assertThatThrownBy(() -> own.configureBlocking(true)).isInstanceOf(IllegalBlockingModeException.class);
            own.close();
            assertThat(key.isValid()).isFalse();
            selector.selectNow();
            assertThat(selector.keys()).isEmpty();
        }
    }

    /** Two servers and their client, which echo and check datagrams in one thread. */
    @ParameterizedTest
    @EnumSource(Kind.class)
    void oneThreadServesManyChannels(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind);
                Selector selector = kind.selector()) {
            DatagramChannel client = channels.bound();
            DatagramChannel[] servers = {channels.bound(), channels.bound()};
            for (DatagramChannel each : new DatagramChannel[] {client, servers[0], servers[1]}) {
                each.configureBlocking(false);
                each.register(selector, OP_READ);
            }
            ByteBuffer buffer = ByteBuffer.allocate(100);
            for (int round = 0; round < ROUNDS; round++) {
                send(client, datagram(1 + round % 100), servers[round % 2]);
                boolean done = false;
                while (!done) {
                    selector.selectedKeys().clear();
                    assertThat(selector.select(10_000)).isPositive();
                    for (SelectionKey key : selector.selectedKeys()) {
                        DatagramChannel ready = (DatagramChannel) key.channel();
                        SocketAddress from = ready.receive(buffer.clear());
                        if (ready.equals(client)) {
                            assertThat(buffer.flip()).isEqualTo(datagram(1 + round % 100));
                            done = true;
                        } else {
                            ready.send(buffer.flip(), from);
                        }
                    }
                }
            }
        }
    }

    @Test
    void oneSelectorAcceptsChannelsOfRdmaAndOfThePlatform() throws IOException {
        Pipe pipe = Pipe.open();
        try (DatagramChannels rdma = new DatagramChannels(Kind.RDMA);
                DatagramChannels udp = new DatagramChannels(Kind.UDP);
                Selector selector = RdmaSockets.openSelector();
                Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink()) {
            DatagramChannel[] overRdma = rdma.connected();
            DatagramChannel[] overUdp = udp.connected();
            source.configureBlocking(false);
            SelectionKey pipeKey = source.register(selector, OP_READ);
            SelectionKey[] keys = new SelectionKey[2];
            DatagramChannel[][] pairs = {overRdma, overUdp};
            for (int i = 0; i < 2; i++) {
                pairs[i][0].configureBlocking(false);
                keys[i] = pairs[i][0].register(selector, OP_READ);
            }
            for (int round = 0; round < 10; round++) {
                for (int i = 0; i < 2; i++) {
                    pairs[i][1].write(datagram(1));
                    assertThat(await(selector, keys[i], OP_READ)).isEqualTo(OP_READ);
                    assertThat(selector.selectedKeys()).containsExactly(keys[i]);
                    assertThat(pairs[i][0].read(ByteBuffer.allocate(10))).isEqualTo(1);
                }
                sink.write(datagram(1));
                assertThat(await(selector, pipeKey, OP_READ)).isEqualTo(OP_READ);
                assertThat(source.read(ByteBuffer.allocate(10))).isEqualTo(1);
            }
        }
    }

    @Test
    void selectorOfThePlatformRefusesRdmaChannels() throws IOException {
        try (DatagramChannels channels = new DatagramChannels(Kind.RDMA);
                Selector selector = Selector.open()) {
            DatagramChannel own = channels.bound();
            own.configureBlocking(false);
            assertThatThrownBy(() -> own.register(selector, OP_READ)).isInstanceOf(IllegalSelectorException.class);
        }
    }
}
