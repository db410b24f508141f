package io.rdma4j.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.nio.ChannelPrograms.Log;
import io.rdma4j.sockets.nio.ChannelPrograms.Programs;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProtocolFamily;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Channels report addresses with and without names, and replace wildcards, like the platform's channels. */
@Timeout(120)
class AddressNamesTest {
    private static final Programs PROGRAMS = new Programs();

    static {
        for (String host : List.of("localhost", "127.0.0.1", "::1")) {
            PROGRAMS.add(host, (provider, log) -> connect(provider, host, host, null, log));
        }
        for (String wildcard : List.of("::", "0.0.0.0")) {
            for (StandardProtocolFamily family : List.of(StandardProtocolFamily.INET, StandardProtocolFamily.INET6)) {
                PROGRAMS.add(
                        wildcard + " of " + family,
                        (provider, log) -> connect(provider, wildcard, wildcard, family, log));
            }
            PROGRAMS.add("listener at " + wildcard, (provider, log) -> {
                for (String host : List.of("::", "0.0.0.0", "::1", "127.0.0.1", "localhost")) {
                    connect(provider, wildcard, host, null, log);
                }
            });
        }
    }

    /** Binds a channel and a listener to an address, and connects another to the listener by a second address. */
    private static void connect(
            SelectorProvider provider, String local, String host, @Nullable ProtocolFamily family, Log log)
            throws IOException {
        try (ServerSocketChannel listener =
                        family == null ? provider.openServerSocketChannel() : provider.openServerSocketChannel(family);
                SocketChannel bound = open(provider, family);
                SocketChannel client = open(provider, family)) {
            log.note(
                    "bind",
                    () -> text(bound.bind(new InetSocketAddress(local, 0)).getLocalAddress()));
            log.note(
                    "listen",
                    () -> text(listener.bind(new InetSocketAddress(local, 0)).getLocalAddress()));
            log.note("its socket", () -> text(listener.socket().getLocalSocketAddress()));
            if (listener.getLocalAddress() instanceof InetSocketAddress at) {
                log.note("connect", () -> client.connect(new InetSocketAddress(host, at.getPort())));
                log.note("local", () -> text(client.getLocalAddress()));
                log.note("remote", () -> text(client.getRemoteAddress()));
                log.note("address of the socket", () -> client.socket().getInetAddress());
                try (SocketChannel accepted = Objects.requireNonNull(listener.accept())) {
                    log.note("accepted at", () -> text(accepted.getLocalAddress()));
                    log.note("accepted from", () -> text(accepted.getRemoteAddress()));
                }
            }
        }
    }

    private static SocketChannel open(SelectorProvider provider, @Nullable ProtocolFamily family) throws IOException {
        return family == null ? provider.openSocketChannel() : provider.openSocketChannel(family);
    }

    /** Returns the text of an address without its port. */
    private static String text(@Nullable SocketAddress address) {
        return String.valueOf(address).replaceFirst(":\\d+$", "");
    }

    static List<Arguments> programs() {
        return PROGRAMS.with(List.of("rdma", "tcp", "either"));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("programs")
    void addressesEqualThePlatforms(String name, String transport) throws Exception {
        assertThat(PROGRAMS.seen(name, new RdmaSelectorProvider(AddressRules.parse("*=" + transport))))
                .isEqualTo(PROGRAMS.seen(name, Platform.provider()));
    }
}
