package io.rdma4j.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.nio.channels.NetworkChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import jdk.net.ExtendedSocketOptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Channels have all options of the platform's channels, with the same defaults, and accept the same values. */
@Timeout(60)
class PlatformOptionsTest {
    /** Options with defaults that are sizes of the kernel, and the option for urgent data, which RDMA lacks. */
    private static final Set<String> NOT_COMPARED = Set.of("SO_SNDBUF", "SO_RCVBUF", "SO_OOBINLINE");

    private static SelectorProvider provider(String transport) {
        return new RdmaSelectorProvider(AddressRules.parse("*=" + transport));
    }

    private static Map<String, Object> values(NetworkChannel channel, Set<SocketOption<?>> options) throws IOException {
        Map<String, Object> values = new TreeMap<>();
        for (SocketOption<?> option : options) {
            if (!NOT_COMPARED.contains(option.name())) {
                values.put(option.name(), channel.getOption(option));
            }
        }
        return values;
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "either", "tcp"})
    void defaultsEqualThePlatforms(String transport) throws Exception {
        try (ServerSocketChannel server = provider(transport).openServerSocketChannel();
                SocketChannel client = provider(transport).openSocketChannel();
                ServerSocketChannel platformServer = Platform.provider().openServerSocketChannel();
                SocketChannel platformClient = Platform.provider().openSocketChannel()) {
            Set<SocketOption<?>> ofServers = platformServer.supportedOptions();
            Set<SocketOption<?>> ofClients = platformClient.supportedOptions();
            assertThat(values(server, ofServers)).isEqualTo(values(platformServer, ofServers));
            assertThat(values(client, ofClients)).isEqualTo(values(platformClient, ofClients));
            server.bind(new InetSocketAddress(Loopback.address(), 0));
            assertThat(values(server, ofServers)).isEqualTo(values(platformServer, ofServers));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void acceptedChannelsInheritTheOptionsOfTheirListener(String transport) throws Exception {
        try (ServerSocketChannel server = provider(transport).openServerSocketChannel();
                SocketChannel client = provider(transport).openSocketChannel()) {
            server.setOption(StandardSocketOptions.SO_REUSEPORT, true)
                    .setOption(ExtendedSocketOptions.TCP_KEEPIDLE, 11)
                    .setOption(ExtendedSocketOptions.TCP_KEEPINTERVAL, 12)
                    .setOption(ExtendedSocketOptions.TCP_KEEPCOUNT, 13)
                    .bind(new InetSocketAddress(Loopback.address(), 0));
            client.connect(Objects.requireNonNull(server.getLocalAddress()));
            try (SocketChannel accepted = Objects.requireNonNull(server.accept())) {
                assertThat(accepted.getOption(StandardSocketOptions.SO_REUSEADDR))
                        .isTrue();
                assertThat(accepted.getOption(StandardSocketOptions.SO_REUSEPORT))
                        .isTrue();
                assertThat(accepted.getOption(ExtendedSocketOptions.TCP_KEEPIDLE))
                        .isEqualTo(11);
                assertThat(accepted.getOption(ExtendedSocketOptions.TCP_KEEPINTERVAL))
                        .isEqualTo(12);
                assertThat(accepted.getOption(ExtendedSocketOptions.TCP_KEEPCOUNT))
                        .isEqualTo(13);
            }
        }
    }
}
