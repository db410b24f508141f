package io.rdma4j.testkit.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.sockets.PollEvents;
import io.rdma4j.sockets.RdmaPoll;
import io.rdma4j.sockets.RdmaSocketFactory;
import io.rdma4j.sockets.RdmaStreamSocket;
import io.rdma4j.testkit.TestHost;
import io.rdma4j.testkit.TestNetwork;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sockets over stacks in virtual time: timeouts use the stack's clock. */
@Timeout(20)
class SocketsInVirtualTimeTest {
    private static final StandardProtocolFamily FAMILY = StandardProtocolFamily.INET;
    private static final int TIMEOUT_MILLIS = 3000;
    private static final Duration TIMEOUT = Duration.ofMillis(TIMEOUT_MILLIS);

    /** A timeout starts during the call, and the last step takes a duty cycle. */
    private static final Duration TOLERANCE = Duration.ofMillis(1);

    /** The time for which a connecting socket waits until its request is sent, before its timeout starts. */
    private static final Duration PREPARATION = Duration.ofSeconds(5);

    private final TestNetwork network = TestNetwork.inVirtualTime(1);

    /** A loopback address: the companion of a datagram socket is a UDP socket of this system. */
    private final TestHost host = network.addHost("127.0.0.71");

    private final TestHost clientHost = network.addHost("127.0.0.72");
    private final RdmaSocketFactory sockets = new RdmaSocketFactory(host.connectionManager());
    private final RdmaSocketFactory clientSockets = new RdmaSocketFactory(clientHost.connectionManager());

    @AfterEach
    void close() {
        sockets.close();
        clientSockets.close();
        network.close();
    }

    private InetSocketAddress anyPort() {
        return new InetSocketAddress(host.address(), 0);
    }

    private Duration elapsedDuring(Runnable call) {
        Duration before = network.time().elapsed();
        call.run();
        return network.time().elapsed().minus(before);
    }

    private Duration untilTimeout(ThrowingCallable call) {
        return elapsedDuring(
                () -> assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(call));
    }

    @Test
    void acceptOfASocketTimesOut() throws IOException {
        try (ServerSocket listener = sockets.openServerSocket(FAMILY)) {
            listener.bind(anyPort());
            listener.setSoTimeout(TIMEOUT_MILLIS);
            assertThat(untilTimeout(listener::accept)).isBetween(TIMEOUT, TIMEOUT.plus(TOLERANCE));
        }
    }

    @Test
    void acceptOfAChannelTimesOut() throws IOException {
        try (ServerSocketChannel channel =
                        sockets.openServerSocketChannel(FAMILY).bind(anyPort());
                ServerSocket listener = channel.socket()) {
            listener.setSoTimeout(TIMEOUT_MILLIS);
            assertThat(untilTimeout(listener::accept)).isBetween(TIMEOUT, TIMEOUT.plus(TOLERANCE));
        }
    }

    @Test
    void connectTimesOutIfNoHostHasTheAddress() throws IOException {
        try (Socket socket = clientSockets.openSocket(FAMILY)) {
            InetSocketAddress nobody = new InetSocketAddress("127.0.0.73", 7471);
            assertThat(untilTimeout(() -> socket.connect(nobody, TIMEOUT_MILLIS)))
                    .isBetween(TIMEOUT, PREPARATION.plus(TIMEOUT).plus(TOLERANCE));
        }
    }

    @Test
    void readTimesOut() throws IOException {
        try (ServerSocketChannel listener =
                        sockets.openServerSocketChannel(FAMILY).bind(anyPort());
                SocketChannel client = clientSockets.openSocketChannel(FAMILY)) {
            client.configureBlocking(false);
            client.connect(listener.getLocalAddress());
            listener.configureBlocking(false);
            SocketChannel accepted = listener.accept();
            while (accepted == null || !client.finishConnect()) {
                network.time()
                        .advance(Duration.ofNanos(
                                10_000)); // slowly, for the threads that handle the events of connections
                accepted = accepted == null ? listener.accept() : accepted;
            }
            try (SocketChannel server = accepted;
                    Socket socket = server.socket()) {
                socket.setSoTimeout(TIMEOUT_MILLIS);
                assertThat(untilTimeout(() -> socket.getInputStream().read()))
                        .isBetween(TIMEOUT, TIMEOUT.plus(TOLERANCE));
            }
        }
    }

    @Test
    void receiveTimesOut() throws IOException {
        try (DatagramChannel channel = sockets.openDatagramChannel(FAMILY).bind(anyPort());
                DatagramSocket socket = channel.socket()) {
            socket.setSoTimeout(TIMEOUT_MILLIS);
            DatagramPacket packet = new DatagramPacket(new byte[1], 1);
            assertThat(untilTimeout(() -> socket.receive(packet))).isBetween(TIMEOUT, TIMEOUT.plus(TOLERANCE));
        }
    }

    @Test
    void pollTimesOut() throws IOException {
        try (RdmaStreamSocket listener = sockets.openStreamSocket();
                ServerSocketChannel channel =
                        sockets.openServerSocketChannel(FAMILY).bind(anyPort());
                RdmaPoll poll = RdmaPoll.open()) {
            listener.bind(anyPort());
            listener.listen(1);
            assertThat(elapsedDuring(() -> assertTimesOut(() -> listener.await(PollEvents.IN, TIMEOUT))))
                    .isBetween(TIMEOUT, TIMEOUT.plus(TOLERANCE));
            poll.add(listener, PollEvents.IN);
            assertThat(elapsedDuring(() -> assertTimesOut(() -> poll.await(TIMEOUT))))
                    .isBetween(TIMEOUT, TIMEOUT.plus(TOLERANCE));
            channel.configureBlocking(false);
            poll.add(channel, PollEvents.IN); // then the poll waits with a selector
            assertThat(elapsedDuring(() -> assertTimesOut(() -> poll.await(TIMEOUT))))
                    .isBetween(TIMEOUT, TIMEOUT.plus(TOLERANCE));
        }
    }

    @Test
    void selectionTimesOut() throws IOException {
        try (ServerSocketChannel channel =
                        sockets.openServerSocketChannel(FAMILY).bind(anyPort());
                Selector selector = sockets.openSelector()) {
            channel.configureBlocking(false);
            channel.register(selector, SelectionKey.OP_ACCEPT);
            assertThat(elapsedDuring(() -> assertTimesOut(() -> selector.select(TIMEOUT_MILLIS))))
                    .isBetween(TIMEOUT, TIMEOUT.plus(TOLERANCE));
        }
    }

    private interface Wait {
        int call() throws IOException;
    }

    private static void assertTimesOut(Wait wait) {
        try {
            assertThat(wait.call()).isZero();
        } catch (IOException failed) {
            throw new AssertionError(failed);
        }
    }
}
