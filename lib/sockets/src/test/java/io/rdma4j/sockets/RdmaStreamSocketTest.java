package io.rdma4j.sockets;

import static io.rdma4j.sockets.MessageFlag.DONT_WAIT;
import static io.rdma4j.sockets.MessageFlag.PEEK;
import static io.rdma4j.sockets.MessageFlag.WAIT_ALL;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.rdma4j.cm.RoutePath;
import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import io.rdma4j.sockets.stream.StreamSizes;
import io.rdma4j.value.PathMtu;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of the rsocket calls, over the software device with both ends in this process. */
@Timeout(30)
class RdmaStreamSocketTest {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final int MAPPINGS = 2;

    private final RdmaStreamSocket listener = RdmaStreamSocket.open();
    private final RdmaStreamSocket client = RdmaStreamSocket.open();
    private RdmaStreamSocket server = client;

    @BeforeEach
    void connect() throws Exception {
        listener.setOption(RdmaSocketOptions.RDMA_IOMAPSIZE, MAPPINGS);
        listener.setOption(StandardSocketOptions.TCP_NODELAY, true);
        listener.setOption(StandardSocketOptions.SO_RCVBUF, 5000);
        listener.bind(new InetSocketAddress(loopback(), 0));
        listener.listen(5);
        assertThat(client.connect(address(listener))).isTrue();
        server = Objects.requireNonNull(listener.accept());
    }

    private static InetAddress loopback() throws IOException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return InetAddress.getByAddress(new byte[] {
            127, (byte) random.nextInt(1, 255), (byte) random.nextInt(256), (byte) random.nextInt(1, 255)
        });
    }

    private static InetSocketAddress address(RdmaStreamSocket socket) {
        return Objects.requireNonNull(socket.localAddress());
    }

    @AfterEach
    void close() {
        client.close();
        server.close();
        listener.close();
    }

    private static ByteBuffer bytes(int... values) {
        ByteBuffer buffer = ByteBuffer.allocate(values.length);
        for (int value : values) {
            buffer.put((byte) value);
        }
        return buffer.flip();
    }

    private static <T> FutureTask<T> start(Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        Thread.ofVirtual().start(task);
        return task;
    }

    /** Starts a call in a thread, and waits until it blocks. */
    private static <T> FutureTask<T> startBlocked(Callable<T> call) throws InterruptedException {
        FutureTask<T> task = new FutureTask<>(call);
        BlockedThread.await(Thread.ofVirtual().start(task));
        return task;
    }

    private static <T> T result(FutureTask<T> task) throws Exception {
        return task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }

    // ---- data

    @Test
    void blockingSendSendsAllAndWaitAllReceivesAll() throws Exception {
        byte[] sent = new byte[3_000_000];
        ThreadLocalRandom.current().nextBytes(sent);
        FutureTask<Integer> sending = start(() -> client.send(ByteBuffer.wrap(sent)));
        ByteBuffer target = ByteBuffer.allocateDirect(sent.length);
        assertThat(server.receive(target, Set.of(WAIT_ALL))).isEqualTo(sent.length);
        assertThat(target.flip()).isEqualTo(ByteBuffer.wrap(sent));
        assertThat(result(sending)).isEqualTo(sent.length);
    }

    @Test
    void peekDoesNotConsume() throws IOException {
        client.send(bytes(1, 2, 3));
        ByteBuffer target = ByteBuffer.allocate(2);
        assertThat(server.receive(target, Set.of(PEEK))).isEqualTo(2);
        ByteBuffer again = ByteBuffer.allocate(3);
        assertThat(server.receive(again, Set.of(WAIT_ALL))).isEqualTo(3);
        assertThat(target.flip()).isEqualTo(bytes(1, 2));
        assertThat(again.flip()).isEqualTo(bytes(1, 2, 3));
    }

    @Test
    void nonBlockingReceiveWithoutDataReturnsZero() throws IOException {
        assertThat(server.receive(ByteBuffer.allocate(1), EnumSet.of(DONT_WAIT, WAIT_ALL)))
                .isZero();
        server.configureBlocking(false);
        assertThat(server.receive(ByteBuffer.allocate(1))).isZero();
        assertThat(server.isBlocking()).isFalse();
    }

    @Test
    void slowReaderStopsANonBlockingWriter() throws IOException {
        client.configureBlocking(false);
        ByteBuffer much = ByteBuffer.allocate(4_000_000);
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        while (client.await(PollEvents.OUT, Duration.ofMillis(200)) != 0) {
            client.send(much);
            assertThat(System.nanoTime()).isLessThan(deadline);
        }
        assertThat(much.position()).isLessThan(500_000);
        assertThat(client.send(much)).isZero();
        int left = much.position();
        while (left > 0) {
            left -= server.receive(ByteBuffer.allocate(100_000));
        }
        assertThat(client.await(PollEvents.OUT, PATIENCE)).isEqualTo(PollEvents.OUT);
    }

    @Test
    void vectorsAreFilledAndSentInOrder() throws IOException {
        ByteBuffer[] sources = {bytes(1), bytes(), bytes(2, 3, 4), bytes(5, 6)};
        assertThat(client.send(sources, Set.of())).isEqualTo(6);
        ByteBuffer[] targets = {ByteBuffer.allocate(0), ByteBuffer.allocate(2), ByteBuffer.allocate(4)};
        assertThat(server.receive(targets, Set.of(WAIT_ALL))).isEqualTo(6);
        assertThat(targets[1].flip()).isEqualTo(bytes(1, 2));
        assertThat(targets[2].flip()).isEqualTo(bytes(3, 4, 5, 6));
    }

    @Test
    void vectoredReceiveReturnsAvailableBytes() throws IOException {
        client.send(bytes(1, 2, 3));
        server.await(PollEvents.IN, PATIENCE);
        ByteBuffer[] targets = {ByteBuffer.allocate(2), ByteBuffer.allocate(2), ByteBuffer.allocate(2)};
        assertThat(server.receive(targets, Set.of(PEEK))).isEqualTo(2);
        targets[0].clear();
        assertThat(server.receive(targets, Set.of())).isEqualTo(3);
        assertThat(server.receive(targets, Set.of(DONT_WAIT))).isZero();
    }

    @Test
    void bytesSentBeforeTheEndAreReceived() throws IOException {
        client.send(bytes(1, 2));
        client.shutdownOutput();
        ByteBuffer target = ByteBuffer.allocate(5);
        assertThat(server.receive(target, Set.of(WAIT_ALL))).isEqualTo(2);
        assertThat(server.receive(target)).isEqualTo(-1);
        assertThat(server.receive(new ByteBuffer[] {target}, Set.of())).isEqualTo(-1);
        server.send(bytes(9));
        assertThat(client.receive(ByteBuffer.allocate(1))).isEqualTo(1);
        assertThatIOException().isThrownBy(() -> client.send(bytes(1))).withMessageContaining("Broken pipe");
    }

    // ---- waiting

    @Test
    void interruptEndsOnlyTheCall() throws Exception {
        FutureTask<Boolean> task = new FutureTask<>(() -> {
            assertThatExceptionOfType(InterruptedIOException.class)
                    .isThrownBy(() -> server.receive(ByteBuffer.allocate(1)));
            return Thread.currentThread().isInterrupted();
        });
        Thread reader = Thread.ofPlatform().start(task);
        BlockedThread.await(reader);
        reader.interrupt();
        assertThat(result(task)).isTrue();
        client.send(bytes(7));
        assertThat(server.receive(ByteBuffer.allocate(1))).isEqualTo(1);
    }

    @Test
    void closingEndsCallsOfOtherThreads() throws Exception {
        FutureTask<Integer> reading = startBlocked(() -> server.receive(ByteBuffer.allocate(1)));
        FutureTask<RdmaStreamSocket> accepting = startBlocked(listener::accept);
        server.close();
        listener.close();
        assertThat(server.isClosed()).isTrue();
        for (FutureTask<?> each : Set.of(reading, accepting)) {
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> result(each))
                    .withCauseInstanceOf(SocketException.class);
        }
    }

    @Test
    void awaitReturnsWhenTheSocketBecomesReady() throws Exception {
        assertThat(server.await(PollEvents.IN, Duration.ZERO)).isZero();
        assertThat(server.await(PollEvents.IN, Duration.ofMillis(20))).isZero();
        assertThat(server.await(PollEvents.IN | PollEvents.OUT, null)).isEqualTo(PollEvents.OUT);
        FutureTask<Integer> waiting = startBlocked(() -> server.await(PollEvents.IN, null));
        client.send(bytes(1));
        assertThat(result(waiting)).isEqualTo(PollEvents.IN);
        client.close();
        server.receive(ByteBuffer.allocate(1));
        assertThat(server.await(0, PATIENCE)).isEqualTo(PollEvents.HANG_UP);
    }

    // ---- connections

    @Test
    void nonBlockingConnectReportsItsEnd() throws Exception {
        try (RdmaStreamSocket second = RdmaStreamSocket.open()) {
            second.configureBlocking(false);
            boolean done = second.connect(address(listener));
            assertThat(done || second.await(PollEvents.OUT, PATIENCE) == PollEvents.OUT)
                    .isTrue();
            assertThat(second.finishConnect()).isTrue();
            assertThat(second.peerAddress()).isEqualTo(address(listener));
            listener.configureBlocking(false);
            assertThat(listener.await(PollEvents.IN, PATIENCE)).isEqualTo(PollEvents.IN);
            try (RdmaStreamSocket accepted = Objects.requireNonNull(listener.accept())) {
                assertThat(accepted.isBlocking()).isFalse();
                assertThat(accepted.peerAddress()).isEqualTo(second.localAddress());
            }
            assertThat(listener.accept()).isNull();
        }
    }

    @Test
    void connectingWithoutListenerIsRefused() throws IOException {
        InetSocketAddress nobody = new InetSocketAddress(address(listener).getAddress(), 1);
        try (RdmaStreamSocket blocking = RdmaStreamSocket.open();
                RdmaStreamSocket other = RdmaStreamSocket.open()) {
            assertThatExceptionOfType(ConnectException.class)
                    .isThrownBy(() -> blocking.connect(nobody))
                    .withMessageStartingWith("Connection refused");
            other.configureBlocking(false);
            other.connect(nobody);
            assertThat(other.await(PollEvents.OUT, PATIENCE)).isEqualTo(PollEvents.OUT | PollEvents.ERROR);
            assertThatExceptionOfType(ConnectException.class).isThrownBy(other::finishConnect);
        }
    }

    @Test
    void callsOnAnUnconnectedSocketFail() throws IOException {
        try (RdmaStreamSocket fresh = RdmaStreamSocket.open()) {
            assertThat(fresh.localAddress()).isNull();
            assertThat(fresh.peerAddress()).isNull();
            assertThatIOException().isThrownBy(() -> fresh.send(bytes(1))).withMessageContaining("Not connected");
            assertThatIOException().isThrownBy(fresh::accept).withMessageContaining("does not listen");
            assertThatExceptionOfType(BindException.class).isThrownBy(() -> fresh.bind(address(listener)));
        }
    }

    // ---- options

    @Test
    void optionsAreStoredAndInherited() throws IOException {
        try (RdmaStreamSocket fresh = RdmaStreamSocket.open()) {
            keeps(fresh, StandardSocketOptions.SO_SNDBUF, 65_536, 100_000);
            keeps(fresh, StandardSocketOptions.SO_RCVBUF, 65_536, 5000);
            keeps(fresh, StandardSocketOptions.SO_REUSEADDR, false, true);
            keeps(fresh, StandardSocketOptions.SO_KEEPALIVE, false, true);
            keeps(fresh, StandardSocketOptions.SO_LINGER, -1, 5);
            keeps(fresh, StandardSocketOptions.TCP_NODELAY, false, true);
            keeps(fresh, StandardSocketOptions.IP_TOS, 0, 0x28);
            keeps(fresh, ExtendedSocketOptions.TCP_KEEPIDLE, 7200, 9);
            keeps(fresh, ExtendedSocketOptions.TCP_KEEPINTERVAL, 75, 30);
            keeps(fresh, ExtendedSocketOptions.TCP_KEEPCOUNT, 9, 5);
            keeps(fresh, RdmaSocketOptions.IPV6_V6ONLY, false, true);
            keeps(fresh, RdmaSocketOptions.RDMA_SQSIZE, 384, 100);
            keeps(fresh, RdmaSocketOptions.RDMA_RQSIZE, 384, 100);
            keeps(fresh, RdmaSocketOptions.RDMA_INLINE, 64, 0);
            keeps(fresh, RdmaSocketOptions.RDMA_IOMAPSIZE, 0, 3);
            fresh.setOption(RdmaSocketOptions.RDMA_SQSIZE, 1);
            assertThat(fresh.option(RdmaSocketOptions.RDMA_SQSIZE)).isEqualTo(16);
            fresh.setOption(StandardSocketOptions.SO_SNDBUF, 1);
            assertThat(fresh.option(StandardSocketOptions.SO_SNDBUF)).isEqualTo(2048);
        }
        assertThat(server.option(StandardSocketOptions.TCP_NODELAY)).isTrue();
        assertThat(server.option(StandardSocketOptions.SO_RCVBUF)).isEqualTo(5000);
    }

    @Test
    void everyOptionButAnUnsetRouteHasAValueOfItsType() {
        try (RdmaStreamSocket fresh = RdmaStreamSocket.open()) {
            for (SocketOption<?> option : RdmaStreamSocket.supportedOptions()) {
                Object value = fresh.option(option);
                if (option.equals(RdmaSocketOptions.RDMA_ROUTE)) {
                    assertThat(value).isNull();
                } else {
                    assertThat(value).as(option.name()).isInstanceOf(option.type());
                }
            }
            assertThatExceptionOfType(IllegalArgumentException.class)
                    .isThrownBy(() -> setToNull(fresh, RdmaSocketOptions.RDMA_ROUTE));
        }
    }

    @SuppressWarnings("NullAway") // as a program without null checks can do
    private static void setToNull(RdmaStreamSocket socket, SocketOption<?> option) throws IOException {
        socket.setOption(option, null);
    }

    @Test
    void chosenRouteIsUsed() throws IOException {
        RoutePath path = new RoutePath(PathMtu.MTU_512, 8, 77, 3, 13);
        try (RdmaStreamSocket fresh = RdmaStreamSocket.open()) {
            assertThat(fresh.option(RdmaSocketOptions.RDMA_ROUTE)).isNull();
            assertThat(fresh.option(RdmaSocketOptions.TCP_MAXSEG)).isEqualTo(2048);
            fresh.setOption(RdmaSocketOptions.TCP_MAXSEG, 1000);
            fresh.setOption(RdmaSocketOptions.RDMA_ROUTE, path);
            fresh.connect(address(listener));
            try (RdmaStreamSocket accepted = Objects.requireNonNull(listener.accept())) {
                assertThat(fresh.option(RdmaSocketOptions.RDMA_ROUTE)).isEqualTo(path);
                assertThat(fresh.option(RdmaSocketOptions.TCP_MAXSEG)).isEqualTo(512);
                assertThat(accepted.option(RdmaSocketOptions.TCP_MAXSEG)).isEqualTo(512);
                byte[] sent = new byte[3000];
                Arrays.fill(sent, (byte) 7);
                fresh.send(ByteBuffer.wrap(sent));
                ByteBuffer came = ByteBuffer.allocate(3000);
                accepted.receive(came, Set.of(WAIT_ALL));
                assertThat(came.flip()).isEqualTo(ByteBuffer.wrap(sent));
            }
            assertThatIOException()
                    .isThrownBy(() -> fresh.setOption(RdmaSocketOptions.RDMA_ROUTE, path))
                    .withMessageContaining("before the socket is connected");
        }
        assertThat(client.option(RdmaSocketOptions.TCP_MAXSEG)).isEqualTo(4096);
    }

    private static <T> void keeps(RdmaStreamSocket socket, SocketOption<T> option, T first, T other)
            throws IOException {
        assertThat(RdmaStreamSocket.supportedOptions()).contains(option);
        assertThat(socket.option(option)).as(option.name()).isEqualTo(first);
        assertThat(socket.setOption(option, other)).isSameAs(socket);
        assertThat(socket.option(option)).as(option.name()).isEqualTo(other);
    }

    @Test
    void sizesOfAConnectionAreFixed() throws IOException {
        assertThatIOException()
                .isThrownBy(() -> client.setOption(RdmaSocketOptions.RDMA_INLINE, 1))
                .withMessageContaining("before the socket is connected");
        client.setOption(StandardSocketOptions.SO_SNDBUF, 1);
        assertThat(client.option(StandardSocketOptions.SO_SNDBUF)).isEqualTo(65_536);
        client.setOption(StandardSocketOptions.TCP_NODELAY, true);
        client.setOption(StandardSocketOptions.IP_TOS, 8);
    }

    @Test
    void invalidOptionsAreRejected() {
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> client.option(StandardSocketOptions.IP_MULTICAST_TTL));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> client.setOption(StandardSocketOptions.SO_SNDBUF, -1));
        assertThatExceptionOfType(IllegalArgumentException.class)
                .isThrownBy(() -> client.setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 0));
    }

    // ---- mapped memory

    @Test
    void mappedMemoryIsWrittenBeforeTheBytesThatFollow() throws IOException {
        try (Arena arena = Arena.ofShared()) {
            MemorySegment memory = arena.allocate(200_000);
            // The server has mapping entries in its table: the client maps, the server writes.
            try (MappedMemory mapped = client.map(memory, 1000)) {
                assertThat(mapped.offset()).isEqualTo(1000);
                assertThat(mapped.memory()).isSameAs(memory);
                client.send(bytes(1));
                server.receive(ByteBuffer.allocate(1));
                ByteBuffer source = ByteBuffer.allocate(150_000);
                ThreadLocalRandom.current().nextBytes(source.array());
                assertThat(server.writeMapped(source, 1500, Set.of())).isEqualTo(150_000);
                server.send(bytes(2));
                client.receive(ByteBuffer.allocate(1));
                assertThat(memory.asSlice(500, 150_000).asByteBuffer()).isEqualTo(source.flip());
            }
        }
    }

    @Test
    void writesEndWhereTheMappingEnds() throws IOException {
        try (Arena arena = Arena.ofShared()) {
            MappedMemory first = client.map(arena.allocate(100), 0);
            MappedMemory second = client.map(arena.allocate(100), 100);
            assertThatIOException()
                    .isThrownBy(() -> client.map(arena.allocate(1), 300))
                    .withMessageContaining("RDMA_IOMAPSIZE");
            client.send(bytes(1));
            server.receive(ByteBuffer.allocate(1));
            assertThat(server.writeMapped(ByteBuffer.allocate(300), 50, Set.of()))
                    .isEqualTo(150);
            assertThat(server.writeMapped(ByteBuffer.allocate(1), 200, Set.of()))
                    .isEqualTo(-1);
            assertThat(server.writeMapped(ByteBuffer.allocate(1), -1, Set.of())).isEqualTo(-1);
            server.send(bytes(1));
            client.receive(ByteBuffer.allocate(1)); // the write has arrived by now
            first.close();
            first.close();
            MappedMemory third = client.map(arena.allocate(8), -1);
            client.send(bytes(1));
            server.receive(ByteBuffer.allocate(1));
            assertThat(server.writeMapped(ByteBuffer.allocate(1), 0, Set.of())).isEqualTo(-1);
            ByteBuffer word = ByteBuffer.allocate(8).putLong(0, 42);
            assertThat(server.writeMapped(word, third.offset(), Set.of())).isEqualTo(8);
            server.send(bytes(1));
            client.receive(ByteBuffer.allocate(1));
            assertThat(third.memory().get(ValueLayout.JAVA_LONG.withOrder(ByteOrder.BIG_ENDIAN), 0))
                    .isEqualTo(42);
            second.close();
            client.close();
            third.close();
        }
    }

    @Test
    void anyBufferSizeCanBeRequested() throws IOException {
        RdmaStreamSocket large = RdmaStreamSocket.open();
        large.setOption(StandardSocketOptions.SO_SNDBUF, Integer.MAX_VALUE);
        large.setOption(StandardSocketOptions.SO_RCVBUF, Integer.MAX_VALUE);
        assertThat(large.option(StandardSocketOptions.SO_SNDBUF)).isEqualTo(StreamSizes.MAX_BUFFER_BYTES / 2);
        assertThat(large.option(StandardSocketOptions.SO_RCVBUF)).isEqualTo(StreamSizes.MAX_BUFFER_BYTES / 2);
        large.close();
    }
}
