package io.rdma4j.link;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.link.system.LinkSets;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(30)
class LocalChannelTest {
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    @SuppressWarnings("NullAway.Init")
    private Path path;

    private final List<LinkSet> opened = new ArrayList<>();

    static Stream<Arguments> pairsOfKinds() {
        return LinkKinds.all().stream()
                .flatMap(server -> LinkKinds.all().stream().map(client -> Arguments.of(server, client)));
    }

    @BeforeEach
    void choosePath() {
        path = folder.resolve("s.sock");
    }

    @AfterEach
    void closeSets() {
        opened.forEach(LinkSet::close);
    }

    private LinkSet open(String kind) throws IOException {
        LinkSet set = LinkSets.open(kind);
        opened.add(set);
        return set;
    }

    private static LocalChannel accept(LinkSet set, LinkSet.LocalListener listener) {
        for (int i = 0; i < 50; i++) {
            LocalChannel channel = listener.accept();
            if (channel != null) {
                return channel;
            }
            set.await(100_000_000);
        }
        throw new AssertionError("no process connected");
    }

    /** Returns the next message, or null once the channel has closed. */
    private static byte @Nullable [] next(LinkSet set, LocalChannel channel) {
        while (true) {
            ByteBuffer message = channel.poll();
            if (message != null) {
                byte[] bytes = new byte[message.remaining()];
                message.get(bytes);
                return bytes;
            }
            if (channel.isClosed()) {
                return null;
            }
            set.await(Long.MAX_VALUE);
        }
    }

    private static ByteBuffer buffer(int bytes, int fill) {
        return ByteBuffer.wrap(Frames.filled(bytes, fill));
    }

    @ParameterizedTest
    @MethodSource("pairsOfKinds")
    void messagesOfAllSizesAreDeliveredInOrderInBothDirections(String server, String client) throws IOException {
        LinkSet serverSet = open(server);
        LinkSet clientSet = open(client);
        LinkSet.LocalListener listener = serverSet.listenLocal(path);
        LocalChannel connected = clientSet.connectLocal(path);
        LocalChannel accepted = accept(serverSet, listener);
        int[] sizes = {0, 1, 2, 300, 4096, LocalChannel.MAX_MESSAGE_BYTES - 5};
        for (int size : sizes) {
            assertThat(connected.send(buffer(5, 9), buffer(size, size))).isTrue();
            assertThat(accepted.send(buffer(size, size), EMPTY)).isTrue();
        }
        for (int size : sizes) {
            byte[] request = Objects.requireNonNull(next(serverSet, accepted));
            assertThat(request).hasSize(5 + size).startsWith(9, 9, 9, 9, 9);
            assertThat(next(clientSet, connected)).isEqualTo(Frames.filled(size, size));
        }
        assertThat(accepted.poll()).isNull();
        assertThat(accepted.isClosed()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("pairsOfKinds")
    void sendDoesNotChangePositions(String server, String client) throws IOException {
        LinkSet serverSet = open(server);
        LinkSet clientSet = open(client);
        LinkSet.LocalListener listener = serverSet.listenLocal(path);
        LocalChannel connected = clientSet.connectLocal(path);
        LocalChannel accepted = accept(serverSet, listener);
        ByteBuffer header = ByteBuffer.wrap(new byte[] {1, 2, 3, 4}).position(1).limit(3);
        ByteBuffer body = ByteBuffer.wrap(new byte[] {5, 6, 7}).position(2);
        assertThat(connected.send(header, body)).isTrue();
        assertThat(header.position()).isEqualTo(1);
        assertThat(body.position()).isEqualTo(2);
        assertThat(next(serverSet, accepted)).containsExactly(2, 3, 7);
    }

    @ParameterizedTest
    @MethodSource("pairsOfKinds")
    void slowReaderLosesWholeMessagesOnly(String server, String client) throws Exception {
        LinkSet serverSet = open(server);
        LinkSet clientSet = open(client);
        LinkSet.LocalListener listener = serverSet.listenLocal(path);
        LocalChannel connected = clientSet.connectLocal(path);
        LocalChannel accepted = accept(serverSet, listener);
        List<Integer> sent = new ArrayList<>();
        int number = 0;
        for (int dropped = 0; dropped < 10; number++) {
            if (connected.send(numbered(number), buffer(number * 37 % 8000, number))) {
                sent.add(number);
            } else {
                dropped++;
            }
        }
        // The writer sends no further messages: its partly written message must be completed by waiting alone.
        int last = number;
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
            while (!connected.isClosed()) {
                clientSet.await(Long.MAX_VALUE);
                assertThat(connected.poll()).isNull();
            }
        });
        for (int expected : sent) {
            ByteBuffer message = ByteBuffer.wrap(Objects.requireNonNull(next(serverSet, accepted)));
            assertThat(message.getInt()).isEqualTo(expected);
            assertThat(message.slice()).isEqualTo(buffer(expected * 37 % 8000, expected));
        }
        assertThat(sent.size()).isLessThan(last);
        accepted.close();
        writer.get();
    }

    private static ByteBuffer numbered(int number) {
        return ByteBuffer.allocate(4).putInt(0, number);
    }

    @ParameterizedTest
    @MethodSource("pairsOfKinds")
    void controlMessagesReachASlowReaderOnceForEachSubjectAndInOrder(String server, String client) throws Exception {
        LinkSet serverSet = open(server);
        LinkSet clientSet = open(client);
        LinkSet.LocalListener listener = serverSet.listenLocal(path);
        LocalChannel connected = clientSet.connectLocal(path);
        LocalChannel accepted = accept(serverSet, listener);
        while (connected.send(buffer(5000, 1), EMPTY)) {
            // Until the socket is full.
        }
        for (int subject = 1; subject <= 1000; subject++) {
            connected.sendControl(subject, numbered(subject));
        }
        for (int again = 0; again < 10; again++) {
            connected.sendControl(7, numbered(7_000_000 + again));
        }
        assertThat(connected.hasUnsentControl()).isTrue();
        assertThat(connected.send(buffer(1, 1), EMPTY))
                .as("a frame does not overtake")
                .isFalse();
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
            while (!connected.isClosed()) {
                clientSet.await(Long.MAX_VALUE); // only the end of the wait notifies the writer that there is room
                assertThat(connected.poll()).isNull();
            }
        });
        List<Integer> received = new ArrayList<>();
        while (received.size() < 1000) {
            byte[] message = Objects.requireNonNull(next(serverSet, accepted));
            if (message.length == 4) {
                received.add(ByteBuffer.wrap(message).getInt());
            }
        }
        List<Integer> expected =
                new ArrayList<>(IntStream.rangeClosed(1, 1000).boxed().toList());
        expected.remove(Integer.valueOf(7));
        expected.add(7_000_009);
        assertThat(received).isEqualTo(expected);
        accepted.close();
        writer.get();
        assertThat(connected.hasUnsentControl()).isFalse();
    }

    @ParameterizedTest
    @MethodSource("pairsOfKinds")
    void fastReaderReceivesAllMessagesInOrder(String server, String client) throws Exception {
        LinkSet serverSet = open(server);
        LinkSet clientSet = open(client);
        LinkSet.LocalListener listener = serverSet.listenLocal(path);
        LocalChannel connected = clientSet.connectLocal(path);
        LocalChannel accepted = accept(serverSet, listener);
        int messages = 5000;
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> {
            for (int i = 0; i < messages; i++) {
                while (!connected.send(numbered(i), buffer(i % 5000, i))) {
                    clientSet.await(1_000_000);
                    assertThat(connected.isClosed()).isFalse();
                }
            }
            connected.poll();
        });
        for (int i = 0; i < messages - 1; i++) {
            ByteBuffer message = ByteBuffer.wrap(Objects.requireNonNull(next(serverSet, accepted)));
            assertThat(message.getInt()).isEqualTo(i);
            assertThat(message.remaining()).isEqualTo(i % 5000);
        }
        writer.get();
    }

    @ParameterizedTest
    @MethodSource("pairsOfKinds")
    void messagesSentBeforeThePeerClosesCanStillBePolled(String server, String client) throws IOException {
        LinkSet serverSet = open(server);
        LinkSet clientSet = open(client);
        LinkSet.LocalListener listener = serverSet.listenLocal(path);
        LocalChannel connected = clientSet.connectLocal(path);
        LocalChannel accepted = accept(serverSet, listener);
        connected.send(buffer(3, 1), EMPTY);
        connected.send(buffer(3, 2), EMPTY);
        clientSet.close();
        assertThat(accepted.send(buffer(3, 3), EMPTY)).isFalse();
        assertThat(accepted.isClosed()).isTrue();
        assertThat(accepted.poll()).isEqualTo(buffer(3, 1));
        assertThat(accepted.poll()).isEqualTo(buffer(3, 2));
        assertThat(next(serverSet, accepted)).isNull();
        assertThat(accepted.isClosed()).isTrue();
        assertThat(accepted.send(buffer(3, 3), EMPTY)).isFalse();
        accepted.close();
        connected.close();
        assertThat(connected.send(EMPTY, EMPTY)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("pairsOfKinds")
    void closingThePeerEndsOneWaitAndClosesTheChannel(String server, String client) throws Exception {
        LinkSet serverSet = open(server);
        LinkSet clientSet = open(client);
        LinkSet.LocalListener listener = serverSet.listenLocal(path);
        LocalChannel connected = clientSet.connectLocal(path);
        LocalChannel accepted = accept(serverSet, listener);
        FutureTask<byte @Nullable []> waiter = new FutureTask<>(() -> next(serverSet, accepted));
        WaitingThread.await(Thread.ofPlatform().daemon().start(waiter));
        connected.close();
        assertThat(waiter.get()).isNull();
        assertThat(accepted.isClosed()).isTrue();
        // No input remains that would keep ending waits.
        serverSet.await(0);
        long start = System.nanoTime();
        serverSet.await(20_000_000);
        assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(18_000_000);
    }

    /** A wait that returns false guarantees that no channel has input. */
    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void awaitReturnsTrueForAChannelRegardlessOfLinkInput(String kind) throws IOException {
        LinkSet set = open(kind);
        LinkSet peers = open(kind);
        LinkSet.LocalListener listener = set.listenLocal(path);
        try (Link link = set.openUdp(InetAddress.ofLiteral("127.0.0.1"), 0);
                Link sender = peers.openUdp(InetAddress.ofLiteral("127.0.0.1"), 0)) {
            SendBurst burst = new SendBurst(Arena.ofAuto(), SendBurst.MAX_FRAME_BYTES);
            Frames.send(sender, burst, link.localAddress(), 20, 1);
            if (kind.equals("linux")) {
                set.await(0); // takes the new link and listener into account
                assertThat(set.await(5_000_000_000L)).isFalse();
            }
            LocalChannel connected = peers.connectLocal(path);
            assertThat(set.await(5_000_000_000L)).isTrue();
            LocalChannel accepted = accept(set, listener);
            assertThat(connected.send(buffer(5, 9), EMPTY)).isTrue();
            assertThat(set.await(5_000_000_000L)).isTrue();
            assertThat(next(set, accepted)).hasSize(5);
            connected.close();
            assertThat(set.await(5_000_000_000L)).isTrue();
            assertThat(Frames.receive(set, link, 1)).hasSize(1);
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void tooLongMessageIsRejected(String kind) throws IOException {
        LinkSet set = open(kind);
        LinkSet.LocalListener listener = set.listenLocal(path);
        LocalChannel connected = set.connectLocal(path);
        accept(set, listener);
        assertThatThrownBy(() -> connected.send(buffer(1, 1), buffer(LocalChannel.MAX_MESSAGE_BYTES, 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("8193");
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void channelIsClosedWhenThePeerViolatesTheFraming(String kind) throws IOException {
        LinkSet set = open(kind);
        LinkSet.LocalListener listener = set.listenLocal(path);
        try (SocketChannel raw = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            LocalChannel accepted = accept(set, listener);
            raw.write(ByteBuffer.wrap(new byte[] {0, 1, 77, (byte) 0xff, (byte) 0xff, 0}));
            assertThat(next(set, accepted)).containsExactly(77);
            assertThat(next(set, accepted)).isNull();
            assertThat(raw.read(ByteBuffer.allocate(1))).isEqualTo(-1);
        } catch (IOException e) {
            // The connection may be reset instead, because the other side closed it with unread bytes.
            assertThat(e).hasMessageContaining("reset");
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void messagesInSmallPiecesAreJoined(String kind) throws IOException {
        LinkSet set = open(kind);
        LinkSet.LocalListener listener = set.listenLocal(path);
        try (SocketChannel raw = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            LocalChannel accepted = accept(set, listener);
            for (byte piece : new byte[] {0, 3, 7, 8}) {
                raw.write(ByteBuffer.wrap(new byte[] {piece}));
                assertThat(accepted.poll()).isNull();
            }
            raw.write(ByteBuffer.wrap(new byte[] {9, 0}));
            assertThat(next(set, accepted)).containsExactly(7, 8, 9);
            assertThat(accepted.poll()).isNull();
            raw.write(ByteBuffer.wrap(new byte[] {1, 5}));
            assertThat(next(set, accepted)).containsExactly(5);
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void connectingWithoutAListenerFailsAndNamesThePath(String kind) throws IOException {
        LinkSet set = open(kind);
        assertThatThrownBy(() -> set.connectLocal(path))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(path.toString());
        leaveStaleSocket();
        assertThatThrownBy(() -> set.connectLocal(path))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(path.toString());
    }

    private void leaveStaleSocket() throws IOException {
        try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            server.bind(UnixDomainSocketAddress.of(path));
        }
        assertThat(Files.exists(path)).isTrue();
    }

    @ParameterizedTest
    @MethodSource("pairsOfKinds")
    void staleSocketFileIsReplacedButNotOneInUse(String server, String client) throws IOException {
        leaveStaleSocket();
        LinkSet set = open(server);
        LinkSet other = open(client);
        LinkSet.LocalListener listener = set.listenLocal(path);
        assertThatThrownBy(() -> other.listenLocal(path))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(path.toString())
                .hasMessageContaining("another process");
        LocalChannel connected = other.connectLocal(path);
        // The check for a listening process was also a connection.
        accept(set, listener);
        accept(set, listener);
        assertThat(connected.isClosed()).isFalse();
        listener.close();
        listener.close();
        assertThat(Files.exists(path)).isFalse();
        assertThat(listener.accept()).isNull();
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void fileThatIsNotASocketIsNotReplaced(String kind) throws IOException {
        Files.writeString(path, "precious");
        LinkSet set = open(kind);
        assertThatThrownBy(() -> set.listenLocal(path))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("not a socket");
        assertThat(path).hasContent("precious");
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void closingAListenerKeepsTheFileOfItsSuccessor(String kind) throws IOException {
        LinkSet set = open(kind);
        LinkSet.LocalListener first = set.listenLocal(path);
        Files.delete(path);
        LinkSet.LocalListener second = set.listenLocal(path);
        first.close();
        assertThat(Files.exists(path)).isTrue();
        second.close();
        assertThat(Files.exists(path)).isFalse();
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void closingTheSetClosesItsChannelsAndListeners(String kind) throws IOException {
        LinkSet set = open(kind);
        var listener = set.listenLocal(path);
        LocalChannel connected = set.connectLocal(path);
        assertThat(listener).isNotNull();
        set.close();
        set.close();
        assertThat(Files.exists(path)).isFalse();
        assertThat(connected.send(EMPTY, EMPTY)).isFalse();
    }
}
