package io.rdma4j.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.sockets.RdmaSockets;
import io.rdma4j.sockets.io.ConnectionService;
import io.rdma4j.sockets.io.SocketFamily;
import io.rdma4j.sockets.io.StreamEndpoint;
import io.rdma4j.sockets.io.StreamSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.UnsupportedAddressTypeException;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A connection to a wildcard address goes to the loopback address of its family, independent of the JVM's preference.
 */
@Timeout(60)
class WildcardTest {
    private static InetSocketAddress address(String host, int port) {
        return new InetSocketAddress(InetAddress.ofLiteral(host), port);
    }

    @ParameterizedTest
    @CsvSource({"0.0.0.0, IPV4, 127.0.0.1", "0.0.0.0, IPV6, 127.0.0.1", "::, IPV6, ::1"})
    void wildcardMeansTheLoopbackAddressOfItsFamily(String wildcard, SocketFamily family, String loopback) {
        assertThat(ChannelAddresses.remote(address(wildcard, 7), family)).isEqualTo(address(loopback, 7));
    }

    @Test
    void ipv4ChannelCannotConnectToTheIpv6Wildcard() throws IOException {
        try (SocketChannel stream = RdmaSockets.openSocketChannel(StandardProtocolFamily.INET);
                DatagramChannel datagrams = RdmaSockets.openDatagramChannel(StandardProtocolFamily.INET)) {
            assertThatThrownBy(() -> stream.connect(address("::", 7)))
                    .isInstanceOf(UnsupportedAddressTypeException.class);
            assertThatThrownBy(() -> datagrams.connect(address("::", 7)))
                    .isInstanceOf(UnsupportedAddressTypeException.class);
        }
    }

    @Test
    void channelConnectsToTheIpv6Wildcard() throws IOException {
        try (ServerSocketChannel listener = RdmaSockets.openServerSocketChannel(StandardProtocolFamily.INET6);
                SocketChannel client = RdmaSockets.openSocketChannel(StandardProtocolFamily.INET6)) {
            listener.bind(address("::1", 0));
            InetSocketAddress bound = (InetSocketAddress) Objects.requireNonNull(listener.getLocalAddress());
            assertThat(client.connect(address("::", bound.getPort()))).isTrue();
            assertThat(client.getRemoteAddress()).isEqualTo(bound);
        }
    }

    @Test
    void endpointConnectsToTheIpv6Wildcard() throws IOException {
        StreamEndpoint endpoint = new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT);
        try {
            endpoint.startConnect(address("::", 7));
            assertThat(endpoint.peerAddress()).isEqualTo(address("::1", 7));
        } finally {
            endpoint.close();
        }
    }
}
