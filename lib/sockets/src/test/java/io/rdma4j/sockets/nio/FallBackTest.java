package io.rdma4j.sockets.nio;

import static java.nio.channels.SelectionKey.OP_CONNECT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.DatagramChannel;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Channels that may use RDMA or TCP, when RDMA fails. */
@Timeout(60)
class FallBackTest {
    private static final long PATIENCE_MILLIS = 20_000;

    private static SelectorProvider provider(String transport) {
        return new RdmaSelectorProvider(AddressRules.parse("*=" + transport));
    }

    @Test
    void connectFailsIfItsPortIsInUseForTcp() throws Exception {
        InetAddress here = Loopback.address();
        try (Loopback others = new Loopback(provider("rdma"), here); // so that RDMA refuses immediately
                SocketChannel client = provider("either").openSocketChannel();
                Selector selector = client.provider().openSelector();
                ServerSocket taken = new ServerSocket()) {
            taken.bind(new InetSocketAddress(here, 0));
            client.bind(taken.getLocalSocketAddress()); // the port is free over RDMA
            client.configureBlocking(false).register(selector, OP_CONNECT);
            assertThat(others.listener.isOpen()).isTrue();
            assertThat(client.connect(new InetSocketAddress(here, 9))).isFalse();
            assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
            assertThatThrownBy(client::finishConnect).isInstanceOf(BindException.class);
            assertThat(client.isConnected()).isFalse();
            assertThat(client.isOpen()).isFalse();
        }
    }

    @Test
    void localPortInUseForRdmaIsTriedOverTcp() throws Exception {
        InetAddress here = Loopback.address();
        InetAddress there = Loopback.address();
        SelectorProvider mixed = new RdmaSelectorProvider(
                AddressRules.parse(here.getHostAddress() + "=tcp," + there.getHostAddress() + "=either"));
        try (ServerSocketChannel taken = provider("rdma").openServerSocketChannel();
                ServerSocketChannel listener = provider("tcp").openServerSocketChannel();
                SocketChannel client = mixed.openSocketChannel()) {
            taken.bind(new InetSocketAddress(here, 0));
            listener.bind(new InetSocketAddress(there, 0));
            client.bind(Objects.requireNonNull(taken.getLocalAddress())); // the port is free over TCP
            assertThat(client.connect(Objects.requireNonNull(listener.getLocalAddress())))
                    .isTrue();
            assertThat(client.getLocalAddress()).isEqualTo(taken.getLocalAddress());
        }
    }

    private static InetSocketAddress boundTo(ServerSocketChannel listener) throws IOException {
        return (InetSocketAddress) Objects.requireNonNull(listener.getLocalAddress());
    }

    private static boolean isOverTcp(SocketChannel channel) {
        return ((RdmaSocketChannel) channel).platformChannel() != null;
    }

    @Test
    void secondConnectionToATcpServerDoesNotTryRdma() throws Exception {
        InetAddress here = Loopback.address();
        try (ServerSocketChannel listener = provider("tcp").openServerSocketChannel();
                SocketChannel first = provider("either").openSocketChannel();
                SocketChannel second = provider("either").openSocketChannel()) {
            listener.bind(new InetSocketAddress(here, 0));
            assertThat(first.configureBlocking(true).isBlocking()).isTrue();
            assertThat(first.connect(boundTo(listener))).isTrue();
            second.configureBlocking(false);
            second.connect(boundTo(listener));
            assertThat(isOverTcp(second)).isTrue();
            while (!second.finishConnect()) {
                Thread.onSpinWait();
            }
            assertThat(second.isConnected()).isTrue();
        }
    }

    @Test
    void failureOverTcpForgetsThatThePeerRefusedRdma() throws Exception {
        InetSocketAddress at;
        try (ServerSocketChannel listener = provider("tcp").openServerSocketChannel();
                SocketChannel client = provider("either").openSocketChannel()) {
            listener.bind(new InetSocketAddress(Loopback.address(), 0));
            at = boundTo(listener);
            assertThat(client.connect(at)).isTrue();
        }
        try (ServerSocketChannel listener = provider("rdma").openServerSocketChannel();
                SocketChannel first = provider("either").openSocketChannel();
                SocketChannel second = provider("either").openSocketChannel()) {
            listener.bind(at);
            assertThatThrownBy(() -> first.connect(at)).isInstanceOf(ConnectException.class);
            assertThat(second.connect(at)).isTrue();
            assertThat(isOverTcp(second)).isFalse();
        }
    }

    @Test
    void refusalNamesTheRuleThatWouldTryTcp() throws Exception {
        InetAddress here =
                InetAddress.getByAddress("db.example.com", Loopback.address().getAddress());
        String advice = "if db.example.com:9 listens with TCP, the rule db.example.com:9=either before the others of"
                + " -Drdma4j.sockets.rules reaches it";
        try (Loopback others = new Loopback(provider("rdma"), here);
                SocketChannel client = provider("rdma").openSocketChannel()) {
            assertThat(others.listener.isOpen()).isTrue();
            assertThatThrownBy(() -> client.connect(new InetSocketAddress(here, 9)))
                    .isInstanceOf(ConnectException.class)
                    .hasMessageStartingWith("Connection refused")
                    .hasMessageEndingWith(advice);
        }
    }

    /** Binds UDP port 4791 like a program that does not use RDMA, so that RDMA cannot be used at an address. */
    private static DatagramChannel withoutRdma(InetAddress address) throws IOException {
        return Platform.provider()
                .openDatagramChannel(StandardProtocolFamily.INET)
                .bind(new InetSocketAddress(address, 4791));
    }

    @Test
    void serverListensOverTcpOnlyIfAnotherProgramHasTheRdmaPort() throws Exception {
        InetAddress here = Loopback.address();
        try (DatagramChannel taken = withoutRdma(here);
                ServerSocketChannel refused = provider("rdma").openServerSocketChannel()) {
            assertThat(taken.isOpen()).isTrue();
            InetSocketAddress free = listensOverTcp(new InetSocketAddress(here, 0));
            assertThat(listensOverTcp(free)).isEqualTo(free);
            assertThatThrownBy(() -> refused.bind(new InetSocketAddress(here, 0)))
                    .isInstanceOf(BindException.class);
        }
    }

    /** Returns the address of a server that a client has reached over TCP. */
    private static InetSocketAddress listensOverTcp(InetSocketAddress at) throws IOException {
        try (ServerSocketChannel server = provider("either").openServerSocketChannel();
                SocketChannel client = provider("tcp").openSocketChannel()) {
            server.bind(at);
            assertThat(client.connect(boundTo(server))).isTrue();
            return boundTo(server);
        }
    }

    @Test
    void boundClientUsesTcpIfAnotherProgramHasTheRdmaPort() throws Exception {
        InetAddress here = Loopback.address();
        try (DatagramChannel taken = withoutRdma(here);
                ServerSocketChannel listener = provider("tcp").openServerSocketChannel();
                SocketChannel client = provider("either").openSocketChannel()) {
            assertThat(taken.isOpen()).isTrue();
            listener.bind(new InetSocketAddress(here, 0));
            client.bind(new InetSocketAddress(here, 0));
            SocketAddress bound = client.getLocalAddress();
            assertThat(client.connect(boundTo(listener))).isTrue();
            assertThat(client.getLocalAddress()).isEqualTo(bound);
        }
    }

    /** Another server may listen at the port over RDMA only. Its clients must not be divided between both servers. */
    @Test
    void portThatIsTakenOverRdmaIsInUseForBoth() throws Exception {
        InetAddress here = Loopback.address();
        try (ServerSocketChannel taken = provider("rdma").openServerSocketChannel();
                ServerSocketChannel both = provider("either").openServerSocketChannel()) {
            taken.bind(new InetSocketAddress(here, 0));
            assertThatThrownBy(() -> both.bind(boundTo(taken)))
                    .isInstanceOf(BindException.class)
                    .hasMessageStartingWith("Address already in use");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "either"})
    void portInUseAtTheWildcardIsReportedWithTheTextOfJava(String transport) throws Exception {
        try (ServerSocketChannel taken = provider("rdma").openServerSocketChannel();
                ServerSocketChannel another = provider(transport).openServerSocketChannel();
                ServerSocketChannel specific = provider("rdma").openServerSocketChannel()) {
            taken.bind(new InetSocketAddress(0));
            int port = boundTo(taken).getPort();
            assertThatThrownBy(() -> another.bind(new InetSocketAddress(port)))
                    .isInstanceOf(BindException.class)
                    .hasMessageStartingWith("Address already in use");
            assertThatThrownBy(() -> specific.bind(new InetSocketAddress(Loopback.address(), port)))
                    .isInstanceOf(BindException.class)
                    .hasMessageStartingWith("Address already in use");
            assertThatThrownBy(() -> specific.bind(new InetSocketAddress("192.0.2.1", port)))
                    .isInstanceOf(BindException.class)
                    .hasMessageStartingWith("Cannot assign requested address");
        }
    }

    @Test
    void boundClientKeepsItsPortWhenItFallsBack() throws Exception {
        InetAddress here = Loopback.address();
        try (ServerSocketChannel listener = provider("tcp").openServerSocketChannel();
                SocketChannel client = provider("either").openSocketChannel()) {
            listener.bind(new InetSocketAddress(here, 0));
            client.bind(new InetSocketAddress(here, 0));
            SocketAddress bound = client.getLocalAddress();
            assertThat(client.connect(boundTo(listener))).isTrue();
            assertThat(isOverTcp(client)).isTrue();
            assertThat(client.getLocalAddress()).isEqualTo(bound);
        }
    }
}
