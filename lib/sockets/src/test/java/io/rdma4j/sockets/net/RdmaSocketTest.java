package io.rdma4j.sockets.net;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.sockets.RdmaSockets;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of {@link Socket} and {@link ServerSocket} over the software device, both ends in this process. */
@Timeout(60)
class RdmaSocketTest {
    private final ServerSocket listener = RdmaSockets.openServerSocket(StandardProtocolFamily.INET);
    private final Socket client = RdmaSockets.openSocket(StandardProtocolFamily.INET);
    private Socket server = client;

    RdmaSocketTest() throws IOException {}

    @BeforeEach
    void connect() throws IOException {
        listener.bind(new InetSocketAddress(loopback(), 0));
        client.connect(listener.getLocalSocketAddress());
        server = listener.accept();
    }

    private static InetAddress loopback() throws IOException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return InetAddress.getByAddress(new byte[] {
            127, (byte) random.nextInt(1, 255), (byte) random.nextInt(256), (byte) random.nextInt(1, 255)
        });
    }

    @AfterEach
    void close() throws IOException {
        client.close();
        server.close();
        listener.close();
    }

    @Test
    void bothEndsKnowEachOther() {
        assertThat(client.getRemoteSocketAddress()).isEqualTo(server.getLocalSocketAddress());
        assertThat(server.getRemoteSocketAddress()).isEqualTo(client.getLocalSocketAddress());
        assertThat(server.getLocalPort()).isEqualTo(listener.getLocalPort());
        assertThat(client.isConnected() && client.isBound() && server.isConnected())
                .isTrue();
    }

    @Test
    void writtenBytesAreReadUntilTheEnd() throws IOException {
        byte[] sent = new byte[100_000];
        ThreadLocalRandom.current().nextBytes(sent);
        client.getOutputStream().write(sent);
        assertThat(server.getInputStream().readNBytes(10)).startsWith(java.util.Arrays.copyOf(sent, 10));
        client.shutdownOutput();
        assertThat(server.getInputStream().readAllBytes())
                .isEqualTo(java.util.Arrays.copyOfRange(sent, 10, sent.length));
        assertThat(server.getInputStream().read()).isEqualTo(-1);
        server.getOutputStream().write(77);
        assertThat(client.getInputStream().read()).isEqualTo(77);
    }

    @Test
    void optionsKeepTheirValues() throws IOException {
        client.setTcpNoDelay(true);
        client.setKeepAlive(true);
        client.setSoLinger(true, 3);
        client.setTrafficClass(0x20);
        client.setSoTimeout(1234);
        assertThat(client.getTcpNoDelay()).isTrue();
        assertThat(client.getKeepAlive()).isTrue();
        assertThat(client.getSoLinger()).isEqualTo(3);
        assertThat(client.getTrafficClass()).isEqualTo(0x20);
        assertThat(client.getSoTimeout()).isEqualTo(1234);
        client.setSoLinger(false, 0);
        assertThat(client.getSoLinger()).isEqualTo(-1);
        assertThat(client.supportedOptions()).contains(RdmaSocketOptions.RDMA_INLINE, StandardSocketOptions.SO_LINGER);
    }

    @Test
    void sizesAreSetBeforeConnecting() throws IOException {
        try (Socket fresh = RdmaSockets.openSocket(StandardProtocolFamily.INET)) {
            fresh.setOption(RdmaSocketOptions.RDMA_SQSIZE, 32);
            fresh.setOption(RdmaSocketOptions.RDMA_RQSIZE, 1);
            fresh.setReceiveBufferSize(5000);
            fresh.connect(listener.getLocalSocketAddress());
            assertThat(fresh.getOption(RdmaSocketOptions.RDMA_SQSIZE)).isEqualTo(32);
            assertThat(fresh.getOption(RdmaSocketOptions.RDMA_RQSIZE)).isEqualTo(16);
            assertThat(fresh.getReceiveBufferSize()).isEqualTo(5000);
            assertThatThrownBy(() -> fresh.setOption(RdmaSocketOptions.RDMA_SQSIZE, 64))
                    .isInstanceOf(SocketException.class)
                    .hasMessageContaining("RDMA_SQSIZE");
        }
    }

    @Test
    void readTimesOutAndTheStreamContinues() throws IOException {
        client.setSoTimeout(50);
        assertThatThrownBy(() -> client.getInputStream().read())
                .isInstanceOf(SocketTimeoutException.class)
                .hasMessage("Read timed out");
        server.getOutputStream().write(5);
        assertThat(client.getInputStream().read()).isEqualTo(5);
        listener.setSoTimeout(50);
        assertThatThrownBy(listener::accept).isInstanceOf(SocketTimeoutException.class);
    }

    @Test
    void connectingWithoutListenerIsRefused() throws IOException {
        InetSocketAddress nobody = new InetSocketAddress(listener.getInetAddress(), listener.getLocalPort());
        listener.close();
        try (Socket fresh = RdmaSockets.openSocket(StandardProtocolFamily.INET)) {
            assertThatThrownBy(() -> fresh.connect(nobody, 5000))
                    .isInstanceOf(ConnectException.class)
                    .hasMessageContaining("refused");
            assertThat(fresh.isClosed()).isTrue();
        }
    }
}
