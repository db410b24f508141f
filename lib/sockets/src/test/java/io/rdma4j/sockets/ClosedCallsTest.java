package io.rdma4j.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.cm.CmId;
import io.rdma4j.cm.EventChannel;
import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.value.PortSpace;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every blocking call of the stream sockets fails with "Socket closed" when another thread closes the socket. */
@Timeout(60)
class ClosedCallsTest {
    private static final int LONG_MILLIS = 100_000;

    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    /** A call that blocks indefinitely. */
    private interface Call {
        void call() throws Exception;
    }

    /** A blocking call, and the action that ends it. */
    private record Blocked(AutoCloseable closed, Call call) {}

    private interface Scene {
        Blocked of(ClosedCallsTest test) throws Exception;
    }

    /** The calls of rsocket(7). */
    enum RsocketCall {
        CONNECT(test -> {
            RdmaStreamSocket socket = test.add(RdmaStreamSocket.open());
            return new Blocked(socket, () -> socket.connect(test.silent()));
        }),
        ACCEPT(test -> {
            RdmaStreamSocket socket = test.listening();
            return new Blocked(socket, socket::accept);
        }),
        RECEIVE(test -> {
            RdmaStreamSocket socket = test.connected();
            return new Blocked(socket, () -> socket.receive(ByteBuffer.allocate(1)));
        }),
        RECEIVE_ALL(test -> {
            RdmaStreamSocket socket = test.connected();
            return new Blocked(socket, () -> socket.receive(ByteBuffer.allocate(9), Set.of(MessageFlag.WAIT_ALL)));
        }),
        RECEIVE_INTO_SEVERAL(test -> {
            RdmaStreamSocket socket = test.connected();
            return new Blocked(socket, () -> socket.receive(new ByteBuffer[] {ByteBuffer.allocate(1)}, Set.of()));
        }),
        PEEK(test -> {
            RdmaStreamSocket socket = test.connected();
            return new Blocked(socket, () -> socket.receive(ByteBuffer.allocate(1), Set.of(MessageFlag.PEEK)));
        }),
        SEND(test -> {
            RdmaStreamSocket socket = test.connected();
            return new Blocked(socket, () -> {
                while (true) {
                    socket.send(ByteBuffer.allocate(100_000));
                }
            });
        }),
        SEND_FROM_SEVERAL(test -> {
            RdmaStreamSocket socket = test.connected();
            return new Blocked(socket, () -> {
                while (true) {
                    socket.send(new ByteBuffer[] {ByteBuffer.allocate(100_000)}, Set.of());
                }
            });
        });

        @SuppressWarnings("ImmutableEnumChecker") // its lambdas do not capture variables
        private final Scene scene;

        RsocketCall(Scene scene) {
            this.scene = scene;
        }
    }

    /** The calls of java.net. */
    enum JavaCall {
        CONNECT(test -> {
            Socket socket = test.add(RdmaSockets.openSocket(StandardProtocolFamily.INET));
            return new Blocked(socket, () -> socket.connect(test.silent()));
        }),
        CONNECT_WITH_TIMEOUT(test -> {
            Socket socket = test.add(RdmaSockets.openSocket(StandardProtocolFamily.INET));
            return new Blocked(socket, () -> socket.connect(test.silent(), LONG_MILLIS));
        }),
        ACCEPT(test -> {
            ServerSocket socket = test.serverSocket();
            return new Blocked(socket, socket::accept);
        }),
        ACCEPT_WITH_TIMEOUT(test -> {
            ServerSocket socket = test.serverSocket();
            socket.setSoTimeout(LONG_MILLIS);
            return new Blocked(socket, socket::accept);
        }),
        READ(test -> {
            Socket socket = test.connectedSocket();
            return new Blocked(socket, () -> socket.getInputStream().read());
        }),
        READ_WITH_TIMEOUT(test -> {
            Socket socket = test.connectedSocket();
            socket.setSoTimeout(LONG_MILLIS);
            return new Blocked(socket, () -> socket.getInputStream().read());
        }),
        WRITE(test -> {
            Socket socket = test.connectedSocket();
            return new Blocked(socket, () -> {
                while (true) {
                    socket.getOutputStream().write(new byte[100_000]);
                }
            });
        });

        @SuppressWarnings("ImmutableEnumChecker") // its lambdas do not capture variables
        private final Scene scene;

        JavaCall(Scene scene) {
            this.scene = scene;
        }
    }

    private <T extends AutoCloseable> T add(T made) {
        open.push(made);
        return made;
    }

    @AfterEach
    void close() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
    }

    private static InetSocketAddress anyPort() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return new InetSocketAddress(
                InetAddress.ofLiteral(
                        "127.%d.%d.%d".formatted(random.nextInt(1, 255), random.nextInt(256), random.nextInt(1, 255))),
                0);
    }

    /** A listener that receives requests but does not respond to them. */
    private InetSocketAddress silent() {
        EventChannel channel = add(EventChannel.open());
        CmId listener = add(channel.createId(PortSpace.TCP));
        listener.bindAddress(anyPort());
        listener.listen(5);
        return Objects.requireNonNull(listener.localAddress());
    }

    private RdmaStreamSocket listening() throws IOException {
        RdmaStreamSocket socket = add(RdmaStreamSocket.open());
        socket.bind(anyPort());
        socket.listen(5);
        return socket;
    }

    /** A socket with a peer that sends and accepts no data. */
    private RdmaStreamSocket connected() throws IOException {
        RdmaStreamSocket listener = listening();
        RdmaStreamSocket socket = add(RdmaStreamSocket.open());
        socket.connect(Objects.requireNonNull(listener.localAddress()));
        add(Objects.requireNonNull(listener.accept()));
        return socket;
    }

    private ServerSocket serverSocket() throws IOException {
        ServerSocket socket = add(RdmaSockets.openServerSocket(StandardProtocolFamily.INET));
        socket.bind(anyPort());
        return socket;
    }

    private Socket connectedSocket() throws IOException {
        ServerSocket listener = serverSocket();
        Socket socket = add(RdmaSockets.openSocket(StandardProtocolFamily.INET));
        socket.connect(listener.getLocalSocketAddress());
        add(listener.accept());
        return socket;
    }

    private static void assertEndsWhenClosed(Blocked blocked, boolean isVirtual) throws Exception {
        FutureTask<Void> task = new FutureTask<>(() -> {
            blocked.call().call();
            return null;
        });
        Thread thread = (isVirtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(task);
        BlockedThread.await(thread);
        blocked.closed().close();
        assertThatThrownBy(() -> task.get(10, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(SocketException.class)
                .hasMessage("Socket closed");
    }

    @ParameterizedTest
    @EnumSource
    void rsocketCallEnds(RsocketCall call) throws Exception {
        assertEndsWhenClosed(call.scene.of(this), false);
        assertEndsWhenClosed(call.scene.of(this), true);
    }

    @ParameterizedTest
    @EnumSource
    void javaCallEnds(JavaCall call) throws Exception {
        assertEndsWhenClosed(call.scene.of(this), false);
        assertEndsWhenClosed(call.scene.of(this), true);
    }

    @ParameterizedTest
    @ValueSource(ints = {PollEvents.IN, PollEvents.IN | PollEvents.OUT})
    void waitReportsHangUp(int events) throws Exception {
        RdmaStreamSocket socket = listening();
        FutureTask<Integer> task = new FutureTask<>(() -> socket.await(events, null));
        Thread thread = Thread.ofPlatform().daemon().start(task);
        BlockedThread.await(thread);
        socket.close();
        assertThat(task.get(10, TimeUnit.SECONDS) & PollEvents.HANG_UP).isEqualTo(PollEvents.HANG_UP);
    }
}
