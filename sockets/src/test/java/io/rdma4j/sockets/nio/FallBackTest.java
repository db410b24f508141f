package io.rdma4j.sockets.nio;

import static java.nio.channels.SelectionKey.OP_CONNECT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.options.AddressRules;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
        try (Loopback others = new Loopback(provider("rdma"), here); // so RDMA refuses there at once
                SocketChannel client = provider("either").openSocketChannel();
                Selector selector = client.provider().openSelector();
                ServerSocket taken = new ServerSocket()) {
            taken.bind(new InetSocketAddress(here, 0));
            client.bind(taken.getLocalSocketAddress()); // over RDMA it is free
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
            client.bind(Objects.requireNonNull(taken.getLocalAddress())); // over TCP it is free
            assertThat(client.connect(Objects.requireNonNull(listener.getLocalAddress())))
                    .isTrue();
            assertThat(client.getLocalAddress()).isEqualTo(taken.getLocalAddress());
        }
    }
}
