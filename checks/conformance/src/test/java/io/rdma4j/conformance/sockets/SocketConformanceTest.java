package io.rdma4j.conformance.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.conformance.device.Driver;
import io.rdma4j.conformance.device.NotOn;
import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.sockets.RdmaSockets;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The documented behaviour of {@link Socket} and {@link ServerSocket} for RDMA sockets, by the public API. */
@Timeout(60)
class SocketConformanceTest {
    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.conformance.device.TestDevices#addressOfEachFamily")
    void oneThreadCanConnectBothSides(InetAddress address) throws IOException {
        try (SocketPair pair = SocketPair.open(address)) {
            pair.client.getOutputStream().write(random(1000));
            assertThat(pair.server.getInputStream().readNBytes(1000)).isEqualTo(random(1000));
            assertThat(pair.client.getRemoteSocketAddress()).isEqualTo(pair.server.getLocalSocketAddress());
            assertThat(pair.server.getRemoteSocketAddress()).isEqualTo(pair.client.getLocalSocketAddress());
            assertThat(pair.client.getInetAddress()).isEqualTo(address);
            assertThat(pair.client.getLocalAddress()).isEqualTo(address);
        }
    }

    @Test
    @NotOn(value = Driver.SIW, because = "rejects IPv4 requests to a listener at the IPv6 wildcard")
    void wildcardListenerAcceptsBothFamilies() throws IOException {
        try (ServerSocket listener = RdmaSockets.openServerSocket(StandardProtocolFamily.INET6)) {
            listener.bind(null);
            for (InetAddress address : TestDevices.addressOfEachFamily().toList()) {
                try (Socket client = RdmaSockets.openSocket(StandardProtocolFamily.INET6)) {
                    client.connect(new InetSocketAddress(address, listener.getLocalPort()));
                    try (Socket server = listener.accept()) {
                        assertThat(server.getLocalAddress()).isEqualTo(address);
                    }
                }
            }
        }
    }

    static Stream<InetAddress> addressAndWildcards() {
        return Stream.of(TestDevices.address(), InetAddress.ofLiteral("0.0.0.0"), InetAddress.ofLiteral("::"));
    }

    @ParameterizedTest
    @MethodSource("addressAndWildcards")
    void boundSocketConnectsFromItsAddress(InetAddress from) throws IOException {
        try (ServerSocket listener = SocketPair.listen(TestDevices.address(), 1);
                Socket client = RdmaSockets.openSocket(StandardProtocolFamily.INET6)) {
            client.bind(new InetSocketAddress(from, 0));
            int port = client.getLocalPort();
            client.connect(listener.getLocalSocketAddress());
            try (Socket server = listener.accept()) {
                assertThat(server.getPort()).isEqualTo(port);
                assertThat(client.getLocalPort()).isEqualTo(port);
            }
        }
    }

    @Test
    void eachSideShutsDownItsOutputIndependently() throws IOException {
        try (SocketPair pair = SocketPair.open()) {
            pair.client.getOutputStream().write(random(70_000));
            pair.client.shutdownOutput();
            assertThat(pair.server.getInputStream().readAllBytes()).isEqualTo(random(70_000));
            assertThat(pair.server.getInputStream().read()).isEqualTo(-1);
            assertThatThrownBy(() -> pair.client.getOutputStream().write(1)).isInstanceOf(SocketException.class);
            pair.server.getOutputStream().write(random(60_000));
            pair.server.close();
            assertThat(pair.client.getInputStream().readAllBytes()).isEqualTo(random(60_000));
            assertThat(pair.client.isOutputShutdown()).isTrue();
        }
    }

    @Test
    void socketWithShutDownInputReturnsEndOfStreamAndStillWrites() throws IOException {
        try (SocketPair pair = SocketPair.open()) {
            InputStream in = pair.client.getInputStream();
            pair.server.getOutputStream().write(random(10));
            pair.client.shutdownInput();
            assertThat(in.read()).isEqualTo(-1);
            assertThat(in.available()).isZero();
            pair.client.getOutputStream().write(9);
            assertThat(pair.server.getInputStream().read()).isEqualTo(9);
        }
    }

    @Test
    void availableBytesAreReadWithoutWaiting() throws IOException {
        try (SocketPair pair = SocketPair.open()) {
            InputStream in = pair.server.getInputStream();
            assertThat(in.available()).isZero();
            pair.client.getOutputStream().write(random(500));
            assertThat(in.read()).isEqualTo(random(500)[0] & 0xff);
            assertThat(in.available()).isEqualTo(499);
            assertThat(in.read(new byte[1000])).isEqualTo(499);
        }
    }

    @Test
    void streamIsTransferredToItsEnd() throws Exception {
        try (SocketPair pair = SocketPair.open()) {
            Thread writer = Thread.ofVirtual().start(() -> {
                try (OutputStream out = pair.client.getOutputStream()) {
                    out.write(random(2_000_000));
                } catch (IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            });
            ByteArrayOutputStream got = new ByteArrayOutputStream();
            assertThat(pair.server.getInputStream().transferTo(got)).isEqualTo(2_000_000);
            assertThat(got.toByteArray()).isEqualTo(random(2_000_000));
            writer.join();
        }
    }

    @Test
    void timedOutReadLosesNoData() throws IOException {
        try (SocketPair pair = SocketPair.open()) {
            pair.client.setSoTimeout(100);
            InputStream in = pair.client.getInputStream();
            long start = System.nanoTime();
            assertThatThrownBy(in::read)
                    .isInstanceOf(SocketTimeoutException.class)
                    .hasMessage("Read timed out");
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(100_000_000L);
            pair.server.getOutputStream().write(random(5));
            assertThat(in.readNBytes(5)).isEqualTo(random(5));
            pair.client.setSoTimeout(0);
            assertThat(pair.client.getSoTimeout()).isZero();
        }
    }

    @Test
    void timedOutAcceptLosesNoConnection() throws IOException {
        try (ServerSocket listener = SocketPair.listen(TestDevices.freshAddress(), 5)) {
            listener.setSoTimeout(100);
            assertThatThrownBy(listener::accept).isInstanceOf(SocketTimeoutException.class);
            try (Socket client = SocketPair.connect(listener);
                    Socket server = listener.accept()) {
                assertThat(server.getPort()).isEqualTo(client.getLocalPort());
            }
        }
    }

    @Test
    void timedOutConnectClosesTheSocketAndDoesNotAffectTheListener() throws IOException {
        try (ServerSocket listener = SocketPair.listen(TestDevices.freshAddress(), 1);
                Socket first = SocketPair.connect(listener);
                Socket second = RdmaSockets.openSocket(StandardProtocolFamily.INET)) {
            // The backlog is full, so the server does not reply to the second request.
            assertThatThrownBy(() -> second.connect(listener.getLocalSocketAddress(), 200))
                    .isInstanceOf(SocketTimeoutException.class)
                    .hasMessage("Connect timed out");
            assertThat(second.isClosed()).isTrue();
            listener.accept().close();
            listener.setSoTimeout(200);
            acceptNobody(listener);
            try (Socket third = SocketPair.connect(listener);
                    Socket server = acceptThe(third, listener)) {
                server.getOutputStream().write(3);
                assertThat(third.getInputStream().read()).isEqualTo(3);
            }
            assertThat(first.getInputStream().read()).isEqualTo(-1);
        }
    }

    /** Accepts until the timeout; a request that its sender has given up may still be accepted. */
    private static void acceptNobody(ServerSocket listener) {
        assertThatThrownBy(() -> {
                    while (true) {
                        listener.accept().close();
                    }
                })
                .isInstanceOf(SocketTimeoutException.class);
    }

    /** Accepts the connection of one socket, and closes earlier ones, whose senders may have given up. */
    private static Socket acceptThe(Socket client, ServerSocket listener) throws IOException {
        listener.setSoTimeout(10_000);
        Socket accepted = listener.accept();
        while (accepted.getPort() != client.getLocalPort()) {
            accepted.close();
            accepted = listener.accept();
        }
        return accepted;
    }

    @Test
    void failuresAreThoseOfJavaNet() throws IOException {
        InetAddress address = TestDevices.freshAddress();
        try (ServerSocket listener = SocketPair.listen(address, 1);
                Socket bound = RdmaSockets.openSocket(StandardProtocolFamily.INET);
                Socket refused = RdmaSockets.openSocket(StandardProtocolFamily.INET);
                Socket unresolved = RdmaSockets.openSocket(StandardProtocolFamily.INET);
                Socket ipv4 = RdmaSockets.openSocket(StandardProtocolFamily.INET)) {
            assertThatThrownBy(() -> bound.bind(listener.getLocalSocketAddress()))
                    .isInstanceOf(BindException.class)
                    .hasMessageStartingWith("Address already in use");
            assertThatThrownBy(() -> bound.bind(new InetSocketAddress(InetAddress.ofLiteral("192.0.2.77"), 0)))
                    .isInstanceOf(SocketException.class);
            assertThatThrownBy(() -> refused.connect(new InetSocketAddress(address, 1)))
                    .isInstanceOf(ConnectException.class)
                    .hasMessageStartingWith("Connection refused");
            assertThatThrownBy(() -> unresolved.connect(InetSocketAddress.createUnresolved("nobody.invalid", 1)))
                    .isInstanceOf(UnknownHostException.class);
            assertThatThrownBy(() -> ipv4.connect(new InetSocketAddress(InetAddress.ofLiteral("::1"), 1)))
                    .isInstanceOf(UnsupportedAddressTypeException.class);
        }
    }

    @Test
    void writesToAClosedPeerEventuallyFail() throws Exception {
        try (SocketPair pair = SocketPair.open()) {
            pair.server.close();
            assertThat(pair.client.getInputStream().read()).isEqualTo(-1);
            assertThatThrownBy(() -> {
                        for (int i = 0; i < 1000; i++) {
                            pair.client.getOutputStream().write(random(1000));
                        }
                    })
                    .isInstanceOf(SocketException.class);
        }
    }

    @Test
    void bytesWrittenBeforeCloseArrive() throws IOException {
        try (SocketPair pair = SocketPair.open()) {
            pair.client.getOutputStream().write(random(100_000));
            pair.client.close();
            assertThat(pair.server.getInputStream().readAllBytes()).isEqualTo(random(100_000));
        }
    }

    @Test
    void closeTakesNoLongerThanTheLingerTime() throws IOException {
        try (SocketPair pair = SocketPair.open()) {
            pair.client.setSoLinger(true, 0);
            pair.server.setSoLinger(true, 2);
            pair.server.getOutputStream().write(random(100_000));
            long start = System.nanoTime();
            pair.client.close();
            pair.server.close();
            assertThat(System.nanoTime() - start).isLessThan(4_000_000_000L);
        }
    }

    @Test
    void closedSocketRefusesAllCalls() throws IOException {
        try (SocketPair pair = SocketPair.open()) {
            InputStream in = pair.client.getInputStream();
            OutputStream out = pair.client.getOutputStream();
            pair.client.close();
            pair.client.close();
            assertThatThrownBy(in::read).isInstanceOf(SocketException.class).hasMessage("Socket closed");
            assertThatThrownBy(() -> out.write(1))
                    .isInstanceOf(SocketException.class)
                    .hasMessage("Socket closed");
            assertThatThrownBy(pair.client::getInputStream).isInstanceOf(SocketException.class);
            assertThatThrownBy(() -> pair.client.setSoTimeout(1)).isInstanceOf(SocketException.class);
            pair.listener.close();
            assertThatThrownBy(pair.listener::accept).isInstanceOf(SocketException.class);
            assertThat(pair.server.getInputStream().read()).isEqualTo(-1);
        }
    }
}
