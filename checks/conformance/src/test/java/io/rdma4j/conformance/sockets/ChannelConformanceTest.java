package io.rdma4j.conformance.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.conformance.sockets.ChannelPair.Kind;
import io.rdma4j.fixture.BlockedThread;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.ConnectionPendingException;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The documented behaviour of {@link SocketChannel} and {@link ServerSocketChannel}, over RDMA and over TCP. */
@Timeout(60)
class ChannelConformanceTest {
    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    private static byte[] readFully(SocketChannel from, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(length);
        while (target.hasRemaining() && from.read(target) >= 0) {
            Thread.onSpinWait();
        }
        return target.array();
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void oneThreadCanConnectBothSides(Kind kind) throws IOException {
        try (ChannelPair pair = new ChannelPair(kind)) {
            assertThat(pair.client.isConnected()).isTrue();
            assertThat(pair.client.finishConnect()).isTrue();
            assertThat(pair.client.getRemoteAddress()).isEqualTo(pair.server.getLocalAddress());
            assertThat(pair.server.getRemoteAddress()).isEqualTo(pair.client.getLocalAddress());
            assertThat(pair.client.write(ByteBuffer.wrap(random(1000)))).isEqualTo(1000);
            assertThat(readFully(pair.server, 1000)).isEqualTo(random(1000));
            assertThatThrownBy(() -> pair.client.connect(pair.listener.getLocalAddress()))
                    .isInstanceOf(AlreadyConnectedException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void eachSideShutsDownItsOutputIndependently(Kind kind) throws IOException {
        try (ChannelPair pair = new ChannelPair(kind)) {
            pair.client.write(ByteBuffer.wrap(random(3000)));
            pair.client.shutdownOutput();
            assertThat(readFully(pair.server, 3000)).isEqualTo(random(3000));
            assertThat(pair.server.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertThatThrownBy(() -> pair.client.write(ByteBuffer.allocate(1)))
                    .isInstanceOf(ClosedChannelException.class);
            pair.server.write(ByteBuffer.wrap(random(2000)));
            pair.server.close();
            assertThat(readFully(pair.client, 2000)).isEqualTo(random(2000));
            assertThat(pair.client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void channelWithShutDownInputReturnsEndOfStreamAndStillWrites(Kind kind) throws IOException {
        try (ChannelPair pair = new ChannelPair(kind)) {
            pair.client.shutdownInput();
            assertThat(pair.client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            pair.client.write(ByteBuffer.wrap(random(7)));
            assertThat(readFully(pair.server, 7)).isEqualTo(random(7));
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void nonBlockingChannelTransfersWhatItCanWithoutWaiting(Kind kind) throws Exception {
        try (ChannelPair pair = new ChannelPair(kind)) {
            pair.client.configureBlocking(false);
            pair.listener.configureBlocking(false);
            assertThat(pair.listener.accept()).isNull();
            assertThat(pair.client.read(ByteBuffer.allocate(10))).isZero();
            assertThat(pair.client.read(ByteBuffer.allocate(0))).isZero();
            long written = 0;
            int idle = 0;
            while (idle < 20) {
                int count = pair.client.write(ByteBuffer.allocate(50_000));
                written += count;
                idle = count == 0 ? idle + 1 : 0;
                Thread.sleep(count == 0 ? 5 : 0);
            }
            // The peer reads nothing, so the buffers of both sides limit the written bytes.
            assertThat(written).isPositive().isLessThan(16L << 20);
            long read = 0;
            while (read < written) {
                read += pair.server.read(ByteBuffer.allocate(100_000));
            }
            // The channel becomes writable only after a message from the peer.
            int count = pair.client.write(ByteBuffer.allocate(1));
            while (count == 0) {
                Thread.sleep(1);
                count = pair.client.write(ByteBuffer.allocate(1));
            }
            assertThat(count).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void nonBlockingConnectIsFinishedLater(Kind kind) throws Exception {
        try (ServerSocketChannel listener = kind.listen();
                SocketChannel client = kind.open()) {
            assertThatThrownBy(() -> client.read(ByteBuffer.allocate(1))).isInstanceOf(NotYetConnectedException.class);
            assertThatThrownBy(() -> client.write(ByteBuffer.allocate(1))).isInstanceOf(NotYetConnectedException.class);
            client.configureBlocking(false);
            boolean connected = client.connect(listener.getLocalAddress());
            if (!connected) {
                assertThat(client.isConnectionPending()).isTrue();
                assertThatThrownBy(() -> client.connect(listener.getLocalAddress()))
                        .isInstanceOf(ConnectionPendingException.class);
            }
            while (!client.finishConnect()) {
                Thread.sleep(1);
            }
            assertThat(client.isConnected()).isTrue();
            assertThat(client.isConnectionPending()).isFalse();
            listener.accept().close();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void refusedConnectClosesTheChannel(Kind kind) throws Exception {
        InetSocketAddress nobody;
        try (ServerSocketChannel listener = kind.listen()) {
            nobody = (InetSocketAddress) listener.getLocalAddress();
        }
        try (SocketChannel blocking = kind.open();
                SocketChannel other = kind.open()) {
            assertThatThrownBy(() -> blocking.connect(nobody))
                    .isInstanceOf(ConnectException.class)
                    .hasMessageStartingWith("Connection refused");
            assertThat(blocking.isOpen()).isFalse();
            other.configureBlocking(false);
            assertThatThrownBy(() -> {
                        other.connect(nobody);
                        while (!other.finishConnect()) {
                            Thread.sleep(1);
                        }
                    })
                    .isInstanceOf(ConnectException.class);
            assertThat(other.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void buffersOfEveryKindAreGatheredAndScattered(Kind kind) throws IOException {
        try (ChannelPair pair = new ChannelPair(kind)) {
            byte[] all = random(20_000);
            ByteBuffer[] sources = new ByteBuffer[40];
            for (int i = 0; i < sources.length; i++) {
                ByteBuffer part = ByteBuffer.wrap(all, 500 * i, i == 7 ? 0 : 500);
                sources[i] = switch (i % 3) {
                    case 0 -> part;
                    case 1 -> part.asReadOnlyBuffer();
                    default ->
                        ByteBuffer.allocateDirect(1000)
                                .position(100)
                                .put(part)
                                .limit(600)
                                .position(100);
                };
            }
            // Buffers 1 to 38, of which one is empty.
            long count = 0;
            while (count < 500 * 37) {
                count += pair.client.write(sources, 1, 38);
            }
            assertThat(sources[0].remaining()).isEqualTo(500);
            assertThat(sources[39].remaining()).isEqualTo(500);
            ByteBuffer[] targets = {
                ByteBuffer.allocate(100),
                ByteBuffer.allocateDirect(0),
                ByteBuffer.allocateDirect(4000),
                ByteBuffer.allocate(500 * 37 - 4100),
                ByteBuffer.allocate(10)
            };
            while (targets[3].hasRemaining()) {
                assertThat(pair.server.read(targets, 0, 4)).isPositive();
            }
            assertThat(targets[4].position()).isZero();
            ByteBuffer got = ByteBuffer.allocate(500 * 37);
            for (int i = 0; i < 4; i++) {
                got.put(targets[i].flip());
            }
            ByteBuffer expected =
                    ByteBuffer.allocate(500 * 37).put(all, 500, 3000).put(all, 4000, 15_500);
            assertThat(got.array()).isEqualTo(expected.array());
            assertThatThrownBy(() -> pair.client.write(sources, 39, 2)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> pair.server.read(ByteBuffer.allocate(1).asReadOnlyBuffer()))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void socketOfAChannelReadsWithATimeout(Kind kind) throws IOException {
        try (ChannelPair pair = new ChannelPair(kind)) {
            pair.client.socket().setSoTimeout(100);
            assertThatThrownBy(() -> pair.client.socket().getInputStream().read())
                    .isInstanceOf(SocketTimeoutException.class);
            pair.server.socket().getOutputStream().write(5);
            assertThat(pair.client.socket().getInputStream().read()).isEqualTo(5);
        }
    }

    // ---- blocked calls

    /** A call that blocks indefinitely. */
    enum Wait {
        READ,
        WRITE,
        ACCEPT
    }

    static Stream<Arguments> waits() {
        return Stream.of(Kind.values())
                .flatMap(kind -> Stream.of(Wait.values())
                        .flatMap(wait -> Stream.of(Arguments.of(kind, wait, false), Arguments.of(kind, wait, true))));
    }

    private record End(Throwable cause, boolean interrupted) {}

    private record Waiting(Thread thread, CompletableFuture<End> end) {}

    private static Waiting start(ChannelPair pair, Wait wait, boolean virtual) throws InterruptedException {
        CompletableFuture<End> end = new CompletableFuture<>();
        Thread.Builder builder =
                virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
        Thread thread = builder.start(() -> {
            try {
                switch (wait) {
                    case READ -> pair.client.read(ByteBuffer.allocate(1));
                    case WRITE -> {
                        while (true) {
                            pair.client.write(ByteBuffer.allocate(100_000));
                        }
                    }
                    case ACCEPT -> pair.listener.accept();
                }
                end.completeExceptionally(new AssertionError("it did not wait"));
            } catch (IOException | RuntimeException e) {
                end.complete(new End(e, Thread.currentThread().isInterrupted()));
            }
        });
        BlockedThread.await(thread);
        assertThat(end).isNotDone();
        return new Waiting(thread, end);
    }

    @ParameterizedTest
    @MethodSource("waits")
    void closeEndsABlockedCall(Kind kind, Wait wait, boolean virtual) throws Exception {
        try (ChannelPair pair = new ChannelPair(kind)) {
            Waiting waiting = start(pair, wait, virtual);
            if (wait == Wait.ACCEPT) {
                pair.listener.close();
            } else {
                pair.client.close();
            }
            // A write that has written some bytes returns their number; the next one finds the channel closed.
            assertThat(waiting.end().get(10, TimeUnit.SECONDS).cause())
                    .isInstanceOf(wait == Wait.WRITE ? ClosedChannelException.class : AsynchronousCloseException.class)
                    .isNotInstanceOf(ClosedByInterruptException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("waits")
    void interruptEndsABlockedCallAndClosesTheChannel(Kind kind, Wait wait, boolean virtual) throws Exception {
        try (ChannelPair pair = new ChannelPair(kind)) {
            Waiting waiting = start(pair, wait, virtual);
            waiting.thread().interrupt();
            assertThat(waiting.end().get(10, TimeUnit.SECONDS).cause()).isInstanceOf(ClosedByInterruptException.class);
            assertThat(waiting.end().get().interrupted())
                    .as("the interrupt status stays set")
                    .isTrue();
            assertThat((wait == Wait.ACCEPT ? pair.listener : pair.client).isOpen())
                    .isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void callOfAnInterruptedThreadClosesTheChannelAtOnce(Kind kind) throws Exception {
        try (ChannelPair pair = new ChannelPair(kind)) {
            Thread.currentThread().interrupt();
            try {
                assertThatThrownBy(() -> pair.client.read(ByteBuffer.allocate(1)))
                        .isInstanceOf(ClosedByInterruptException.class);
            } finally {
                assertThat(Thread.interrupted()).isTrue();
            }
            assertThat(pair.client.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void shutdownOfTheInputEndsABlockedRead(Kind kind) throws Exception {
        try (ChannelPair pair = new ChannelPair(kind)) {
            CompletableFuture<Integer> count = new CompletableFuture<>();
            Thread reader = Thread.ofPlatform().daemon().start(() -> {
                try {
                    count.complete(pair.client.read(ByteBuffer.allocate(1)));
                } catch (IOException e) {
                    count.completeExceptionally(e);
                }
            });
            BlockedThread.await(reader);
            pair.client.shutdownInput();
            assertThat(count.get(10, TimeUnit.SECONDS)).isEqualTo(-1);
        }
    }
}
