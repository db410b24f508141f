package io.rdma4j.sockets.nio;

import static io.rdma4j.sockets.nio.ChannelPrograms.PATIENCE_MILLIS;
import static io.rdma4j.sockets.nio.ChannelPrograms.awaitReady;
import static io.rdma4j.sockets.nio.ChannelPrograms.bytes;
import static java.nio.channels.SelectionKey.OP_ACCEPT;
import static java.nio.channels.SelectionKey.OP_CONNECT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Programs observe the same results with selectors, keys and attempts to connect as on the platform. */
@Timeout(60)
class SelectorComparisonTest {
    private static final ChannelPrograms.Programs PROGRAMS = new ChannelPrograms.Programs();

    static {
        PROGRAMS.pair("actions", (pair, log) -> {
            try (Selector selector = pair.selector(OP_WRITE, OP_WRITE)) {
                List<Object> found = new ArrayList<>();
                log.note("count", () -> selector.select(key -> found.add(key.readyOps())));
                log.note("found", found);
                log.note("selected", selector.selectedKeys().size());
                log.note("null", () -> selector.select(null));
                log.note("negative", () -> selector.select(key -> {}, -1));
                log.note("negative time", () -> selector.select(-1));
                log.note(
                        "again inside",
                        () -> selector.select(key -> {
                            try {
                                selector.selectNow();
                            } catch (IOException e) {
                                throw new java.io.UncheckedIOException(e);
                            }
                        }));
                log.note(
                        "throws",
                        () -> selector.select(key -> {
                            throw new UnsupportedOperationException();
                        }));
                log.note("after that", () -> selector.select(key -> {}));
                log.note("cancels", () -> selector.selectNow(SelectionKey::cancel));
                log.note("then", () -> selector.selectNow());
                log.note("keys", selector.keys().size());
            }
        });
        PROGRAMS.pair("an action closes the selector", (pair, log) -> {
            Selector selector = pair.selector(OP_WRITE, OP_WRITE);
            log.note(
                    "select",
                    () -> selector.select(key -> {
                        try {
                            selector.close();
                        } catch (IOException e) {
                            throw new java.io.UncheckedIOException(e);
                        }
                    }));
            log.note("open", selector.isOpen());
            log.note("channel", pair.client.isOpen() + " " + pair.client.isRegistered());
        });
        PROGRAMS.pair("an action closes a channel", (pair, log) -> {
            try (Selector selector = pair.selector(OP_WRITE, OP_WRITE)) {
                log.note(
                        "select",
                        () -> selector.select(key -> {
                            try {
                                pair.client.close();
                                pair.server.close();
                            } catch (IOException e) {
                                throw new java.io.UncheckedIOException(e);
                            }
                        }));
                log.note(
                        "then",
                        () -> selector.selectNow() + " " + selector.keys().size());
            }
        });
        PROGRAMS.pair("keys", (pair, log) -> {
            Selector selector = pair.selector(OP_READ, 0);
            SelectionKey key = Objects.requireNonNull(pair.client.keyFor(selector));
            log.note("none of connects", () -> key.interestOps(OP_ACCEPT));
            log.note("interest", key.interestOps());
            log.note("or", key.interestOpsOr(OP_WRITE));
            log.note("and", key.interestOpsAnd(OP_WRITE));
            log.note("select", () -> selector.select());
            log.note("ready", key.readyOps());
            log.note("writable", key.isWritable());
            log.note("again", () -> selector.selectNow());
            log.note("same", () -> selector.selectedKeys().add(key));
            log.note("keys.remove", () -> selector.keys().remove(key));
            log.note("keys.clear", () -> {
                selector.keys().clear();
                return "";
            });
            key.interestOps(OP_READ | OP_WRITE);
            pair.server.write(bytes(1));
            log.note("more", () -> {
                int count = 0;
                while (count == 0) {
                    count = selector.select(PATIENCE_MILLIS);
                }
                return count;
            });
            log.note("ready", key.readyOps());
            key.interestOps(0);
            selector.selectedKeys().clear();
            log.note("no interest", () -> selector.selectNow());
            log.note("ready still", key.readyOps());
            log.note(
                    "twice",
                    pair.client.register(selector, OP_WRITE, "attached").equals(key));
            log.note("attachment", key.attachment());
            key.cancel();
            log.note("valid", key.isValid());
            log.note("keyFor", pair.client.keyFor(selector).equals(key));
            log.note("registered", pair.client.isRegistered());
            log.note("ready", () -> key.readyOps());
            log.note("interest", () -> key.interestOps());
            log.note("interestOps", () -> key.interestOps(OP_READ));
            log.note("interestOr", () -> key.interestOpsOr(OP_READ));
            log.note("isReadable", () -> key.isReadable());
            log.note("blocking", () -> pair.client.configureBlocking(true).isBlocking());
            log.note("register blocking", () -> pair.client.register(selector, 0) != null);
            log.note("not blocking", () -> pair.client.configureBlocking(false).isBlocking());
            log.note("register cancelled", () -> pair.client.register(selector, 0) != null);
            log.note("contains", selector.keys().contains(key));
            log.note("now", () -> selector.selectNow());
            log.note("contains", selector.keys().contains(key));
            log.note("keyFor", pair.client.keyFor(selector));
            log.note("register", () -> pair.client.register(selector, OP_WRITE).isValid());
            log.note("now", () -> selector.selectNow());
            selector.close();
            selector.close();
            log.note("closed keys", () -> selector.keys());
            log.note("closed selected", () -> selector.selectedKeys());
            log.note("closed select", () -> selector.selectNow());
            log.note("closed wakeup", () -> selector.wakeup().equals(selector));
            log.note("closed register", () -> pair.client.register(selector, 0));
            log.note("registered", pair.client.isRegistered());
            log.note("blocking", () -> pair.client.configureBlocking(true).isBlocking());
            log.note("provider", selector.provider().equals(pair.client.provider()));
        });
        PROGRAMS.pair("two selectors", (pair, log) -> {
            try (Selector one = pair.selector(OP_READ, 0);
                    Selector two = pair.selector(OP_READ, 0)) {
                pair.server.write(bytes(1));
                log.note("one", () -> one.select(PATIENCE_MILLIS));
                log.note("two", () -> two.select(PATIENCE_MILLIS));
                log.note("one key", pair.client.keyFor(one).readyOps());
                pair.client.close();
                log.note("keys", one.keys().size() + " " + two.keys().size());
                log.note(
                        "valid",
                        one.keys().stream().filter(SelectionKey::isValid).count());
                log.note("one", () -> one.selectNow());
                log.note("keys", one.keys().size() + " " + two.keys().size());
                log.note("selected", one.selectedKeys().size());
            }
        });
        PROGRAMS.pair("wakeups", (pair, log) -> {
            try (Selector selector = pair.selector(OP_READ, OP_READ)) {
                selector.wakeup();
                selector.wakeup();
                log.note("woken", () -> selector.select(PATIENCE_MILLIS));
                long begin = System.nanoTime();
                log.note("not again", () -> selector.select(20));
                log.note("waited", System.nanoTime() - begin >= 19_000_000);
                selector.wakeup();
                log.note("now", () -> selector.selectNow());
                begin = System.nanoTime();
                log.note("forgotten", () -> selector.select(20));
                log.note("waited", System.nanoTime() - begin >= 19_000_000);
                Thread.currentThread().interrupt();
                log.note("interrupted", () -> selector.select(PATIENCE_MILLIS));
                log.note("status", Thread.currentThread().isInterrupted());
                log.note("interrupted now", () -> selector.selectNow());
                log.note("status", Thread.interrupted());
                log.note("open", pair.client.isOpen());
            }
        });
        PROGRAMS.add("a pending attempt", (provider, log) -> {
            try (Loopback others = new Loopback(provider);
                    SocketChannel client = provider.openSocketChannel(StandardProtocolFamily.INET);
                    Selector selector = provider.openSelector()) {
                client.configureBlocking(false);
                client.connect(Objects.requireNonNull(others.listener.getLocalAddress()));
                SelectionKey key = client.register(selector, OP_CONNECT | OP_READ | OP_WRITE);
                log.note("select", () -> selector.select(PATIENCE_MILLIS));
                log.note("ready", key.readyOps());
                log.note("pending", client.isConnectionPending() + " " + client.isConnected());
                log.note("read", () -> client.read(ByteBuffer.allocate(1)));
                log.note("write", () -> client.write(bytes(1)));
                log.note("connect", () -> client.connect(others.listener.getLocalAddress()));
                log.note("bind", () -> client.bind(null));
                log.note("shut", () -> client.shutdownInput());
                selector.selectedKeys().clear();
                try (SocketChannel accepted = others.listener.accept()) {
                    accepted.write(bytes(5));
                    log.note("still", () -> selector.select(PATIENCE_MILLIS));
                    log.note("ready", key.readyOps());
                    log.note("finish", () -> client.finishConnect());
                    selector.selectedKeys().clear();
                    awaitReady(selector, client, OP_READ | OP_WRITE);
                    log.note("ready", key.readyOps());
                    log.note("finish again", () -> client.finishConnect());
                    log.note("connect", () -> client.connect(others.listener.getLocalAddress()));
                }
            }
        });
        PROGRAMS.add("a refused attempt", (provider, log) -> {
            try (Loopback others = new Loopback(provider);
                    SocketChannel client = provider.openSocketChannel(StandardProtocolFamily.INET);
                    Selector selector = provider.openSelector()) {
                InetSocketAddress listening = (InetSocketAddress) others.listener.getLocalAddress();
                log.note("finish", () -> client.finishConnect());
                log.note("socket", () -> {
                    try (SocketChannel other = provider.openSocketChannel(StandardProtocolFamily.INET)) {
                        Socket socket = other.socket();
                        log.run(
                                "connect",
                                () -> socket.connect(new InetSocketAddress(listening.getAddress(), 9), 1000));
                        log.note("closed", socket.isClosed());
                        return "done";
                    }
                });
                client.configureBlocking(false).register(selector, OP_CONNECT);
                log.note("socket, not blocking", () -> {
                    client.socket().connect(listening, 10);
                    return "connected";
                });
                log.note("open", client.isOpen());
                boolean done = client.connect(new InetSocketAddress(listening.getAddress(), 9));
                log.note("select", () -> selector.select(PATIENCE_MILLIS));
                log.note("done", done);
                log.note("finish", () -> client.finishConnect());
                log.note("finish", () -> client.finishConnect());
                log.note("open", client.isOpen());
                log.note("pending", client.isConnectionPending());
                log.note(
                        "keys",
                        () -> selector.selectNow() + " " + selector.keys().size());
            }
        });
    }

    static List<Arguments> programs() {
        return PROGRAMS.with(List.of("rdma", "tcp", "either"));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("programs")
    void programObservesTheSameAsOnThePlatform(String name, String transport) throws Exception {
        assertThat(PROGRAMS.seen(name, new RdmaSelectorProvider(AddressRules.parse("*=" + transport))))
                .isEqualTo(PROGRAMS.seen(name, Platform.provider()));
    }
}
