package io.rdma4j.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.options.AddressRules;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The same calls on channels and sockets of the platform and of this library, in the same states. */
@Timeout(120)
class PlatformComparisonTest {
    private static final InetSocketAddress UNRESOLVED = InetSocketAddress.createUnresolved("nowhere.invalid", 1);

    private interface Question<T> {
        Object ask(T subject) throws Exception;
    }

    private interface Task<T> {
        void run(T subject) throws Exception;
    }

    private static <T> Question<T> doing(Task<T> task) {
        return subject -> {
            task.run(subject);
            return "done";
        };
    }

    /** Calls on a channel that is connected or can be connected. */
    private static final Map<String, Question<SocketChannel>> OF_CHANNELS = new LinkedHashMap<>();

    private static final Map<String, Question<ServerSocketChannel>> OF_LISTENERS = new LinkedHashMap<>();

    private static void socket(String name, Question<Socket> question) {
        OF_CHANNELS.put("socket." + name, channel -> question.ask(channel.socket()));
    }

    private static void serverSocket(String name, Question<ServerSocket> question) {
        OF_LISTENERS.put("socket." + name, channel -> question.ask(channel.socket()));
    }

    static {
        OF_CHANNELS.put("isOpen", SocketChannel::isOpen);
        OF_CHANNELS.put("isConnected", SocketChannel::isConnected);
        OF_CHANNELS.put("isConnectionPending", SocketChannel::isConnectionPending);
        OF_CHANNELS.put("getLocalAddress", SocketChannel::getLocalAddress);
        OF_CHANNELS.put("getRemoteAddress", SocketChannel::getRemoteAddress);
        OF_CHANNELS.put("isBlocking", SocketChannel::isBlocking);
        OF_CHANNELS.put("validOps", SocketChannel::validOps);
        socket("isClosed", Socket::isClosed);
        socket("isConnected", Socket::isConnected);
        socket("isBound", Socket::isBound);
        socket("isInputShutdown", Socket::isInputShutdown);
        socket("isOutputShutdown", Socket::isOutputShutdown);
        socket("getInetAddress", Socket::getInetAddress);
        socket("getLocalAddress", Socket::getLocalAddress);
        socket("getPort", Socket::getPort);
        socket("getLocalPort", Socket::getLocalPort);
        socket("getRemoteSocketAddress", Socket::getRemoteSocketAddress);
        socket("getLocalSocketAddress", Socket::getLocalSocketAddress);
        socket("getSoTimeout", Socket::getSoTimeout);
        socket("getSoLinger", Socket::getSoLinger);
        socket("getKeepAlive", Socket::getKeepAlive);
        socket("getTrafficClass", Socket::getTrafficClass);
        socket("setSoTimeout(-1)", doing(socket -> socket.setSoTimeout(-1)));
        socket("setSoLinger(true, -1)", doing(socket -> socket.setSoLinger(true, -1)));
        socket("setSoLinger(true, 70000)", socket -> {
            socket.setSoLinger(true, 70_000);
            int seconds = socket.getSoLinger();
            socket.setSoLinger(false, 0);
            return seconds;
        });
        socket("setSendBufferSize(0)", doing(socket -> socket.setSendBufferSize(0)));
        socket("setReceiveBufferSize(-1)", doing(socket -> socket.setReceiveBufferSize(-1)));
        socket("setTrafficClass(300)", doing(socket -> socket.setTrafficClass(300)));
        socket("connect(null)", doing(socket -> socket.connect(null)));
        socket("connect(address, -1)", doing(socket -> socket.connect(new InetSocketAddress(1), -1)));
        socket("bind(unresolved)", doing(socket -> socket.bind(UNRESOLVED)));
        socket("getInputStream", socket -> socket.getInputStream() != null);
        socket("getOutputStream", socket -> socket.getOutputStream() != null);
        OF_CHANNELS.put(
                "IP_TOS 300",
                channel -> channel.setOption(StandardSocketOptions.IP_TOS, 300).equals(channel));
        OF_CHANNELS.put(
                "IP_TOS -1",
                channel -> channel.setOption(StandardSocketOptions.IP_TOS, -1).equals(channel));
        OF_CHANNELS.put(
                "SO_SNDBUF -1",
                channel ->
                        channel.setOption(StandardSocketOptions.SO_SNDBUF, -1).equals(channel));
        OF_CHANNELS.put("SO_RCVBUF null", channel -> channel.setOption(StandardSocketOptions.SO_RCVBUF, null));
        OF_CHANNELS.put("option null", channel -> channel.getOption(null));
        OF_CHANNELS.put("IP_MULTICAST_TTL", channel -> channel.getOption(StandardSocketOptions.IP_MULTICAST_TTL));
        OF_CHANNELS.put("bind(unresolved)", channel -> channel.bind(UNRESOLVED).equals(channel));
        OF_CHANNELS.put("connect(null)", channel -> channel.connect(null));
        OF_CHANNELS.put("connect(unresolved)", channel -> channel.connect(UNRESOLVED));
        OF_CHANNELS.put("read(empty)", channel -> channel.read(ByteBuffer.allocate(0)));
        OF_CHANNELS.put("write(empty)", channel -> channel.write(ByteBuffer.allocate(0)));
        OF_CHANNELS.put(
                "read(read-only)",
                channel -> channel.read(ByteBuffer.allocate(1).asReadOnlyBuffer()));
        OF_CHANNELS.put("read(null)", channel -> channel.read((ByteBuffer) null));
        OF_CHANNELS.put("write(null)", channel -> channel.write((ByteBuffer) null));
        OF_CHANNELS.put("write(out of bounds)", channel -> channel.write(new ByteBuffer[1], 1, 1));
        OF_CHANNELS.put("read(no buffers)", channel -> channel.read(new ByteBuffer[0]));
        OF_CHANNELS.put("finishConnect", channel -> channel.isConnectionPending() || channel.finishConnect());
        OF_CHANNELS.put("register(blocking)", PlatformComparisonTest::register);
        OF_CHANNELS.put("register(OP_ACCEPT)", channel -> {
            try (Selector selector = channel.provider().openSelector()) {
                return channel.register(selector, SelectionKey.OP_ACCEPT) != null;
            }
        });
        socket("shutdownInput, unconnected", doing(socket -> {
            if (!socket.isConnected()) {
                socket.shutdownInput();
            }
        }));
        socket("shutdownOutput, unconnected", doing(socket -> {
            if (!socket.isConnected()) {
                socket.shutdownOutput();
            }
        }));
        // Calls that close or change a channel come last.
        socket("connect(unresolved, 10)", doing(socket -> socket.connect(UNRESOLVED, 10)));
        OF_CHANNELS.put("isOpen, then", SocketChannel::isOpen);
        OF_CHANNELS.put("shutdownInput", channel -> channel.shutdownInput().equals(channel));
        OF_CHANNELS.put("read(empty), then", channel -> channel.read(ByteBuffer.allocate(0)));
        OF_CHANNELS.put(
                "read, then",
                channel -> channel.socket().isInputShutdown() ? channel.read(ByteBuffer.allocate(1)) : "not asked");
        socket("getInputStream, then", socket -> socket.getInputStream() != null);
        socket("shutdownInput, then", doing(Socket::shutdownInput));
        OF_CHANNELS.put(
                "shutdownInput, again", channel -> channel.shutdownInput().equals(channel));
        OF_CHANNELS.put("shutdownOutput", channel -> channel.shutdownOutput().equals(channel));
        OF_CHANNELS.put(
                "shutdownOutput, again", channel -> channel.shutdownOutput().equals(channel));
        OF_CHANNELS.put("write, then", channel -> channel.write(ByteBuffer.allocate(1)));
        OF_CHANNELS.put("write(empty), then", channel -> channel.write(ByteBuffer.allocate(0)));
        socket("getOutputStream, then", socket -> socket.getOutputStream() != null);
        socket("shutdownOutput, then", doing(Socket::shutdownOutput));

        OF_LISTENERS.put("isOpen", ServerSocketChannel::isOpen);
        OF_LISTENERS.put("getLocalAddress", ServerSocketChannel::getLocalAddress);
        OF_LISTENERS.put("SO_RCVBUF null", channel -> channel.setOption(StandardSocketOptions.SO_RCVBUF, null));
        OF_LISTENERS.put("SO_SNDBUF", channel -> channel.getOption(StandardSocketOptions.SO_SNDBUF));
        OF_LISTENERS.put("option null", channel -> channel.getOption(null));
        OF_LISTENERS.put("bind(unresolved)", channel -> channel.bind(UNRESOLVED).equals(channel));
        serverSocket("isBound", ServerSocket::isBound);
        serverSocket("isClosed", ServerSocket::isClosed);
        serverSocket("getLocalPort", ServerSocket::getLocalPort);
        serverSocket("getInetAddress", ServerSocket::getInetAddress);
        serverSocket("getLocalSocketAddress", ServerSocket::getLocalSocketAddress);
        serverSocket("getSoTimeout", ServerSocket::getSoTimeout);
        serverSocket("setSoTimeout(-1)", doing(socket -> socket.setSoTimeout(-1)));
        serverSocket("setReceiveBufferSize(0)", doing(socket -> socket.setReceiveBufferSize(0)));
        serverSocket("bind(unresolved)", doing(socket -> socket.bind(UNRESOLVED)));
        OF_LISTENERS.put(
                "accept",
                channel -> channel.isBlocking() && channel.getLocalAddress() != null ? "not asked" : channel.accept());
        serverSocket(
                "accept",
                socket -> socket.getChannel().isBlocking() && socket.isBound() && !socket.isClosed()
                        ? "not asked"
                        : socket.accept());
    }

    private static Object register(SocketChannel channel) throws IOException {
        if (!channel.isBlocking()) {
            return "not asked";
        }
        try (Selector selector = channel.provider().openSelector()) {
            return channel.register(selector, 0) != null;
        }
    }

    // ---- asking

    /** Returns the results. They contain the role of each address, because addresses differ between runs. */
    private static <T> Map<String, String> results(
            Map<String, Question<T>> questions, T subject, Map<Object, String> addresses) {
        Map<String, String> results = new LinkedHashMap<>();
        questions.forEach((name, question) -> results.put(name, result(question, subject, addresses)));
        return results;
    }

    private static <T> String result(Question<T> question, T subject, Map<Object, String> addresses) {
        try {
            Object result = question.ask(subject);
            String known = result == null ? null : addresses.get(result);
            return known != null ? known : String.valueOf(result);
        } catch (Exception thrown) {
            return thrown.getClass().getSimpleName();
        }
    }

    private static void name(Map<Object, String> addresses, Object address, String name) {
        if (address instanceof InetSocketAddress inet) {
            addresses.putIfAbsent(inet, name);
            addresses.putIfAbsent(inet.getPort(), name + " port");
            addresses.putIfAbsent(inet.getAddress(), name + " host");
        }
    }

    /** Returns the differences between two maps, in readable form. */
    private static List<String> differences(Map<String, String> platform, Map<String, String> actual) {
        List<String> found = new ArrayList<>();
        platform.forEach((question, result) -> {
            if (!result.equals(actual.get(question))) {
                found.add(question + ": platform " + result + ", here " + actual.get(question));
            }
        });
        return found;
    }

    private static SelectorProvider rdma() {
        return new RdmaSelectorProvider(AddressRules.RDMA_ONLY);
    }

    // ---- states

    private static Map<String, String> ofChannel(String state, SelectorProvider provider) throws Exception {
        Map<Object, String> addresses = new LinkedHashMap<>();
        try (Loopback pair = new Loopback(provider);
                SocketChannel fresh = provider.openSocketChannel(java.net.StandardProtocolFamily.INET)) {
            InetSocketAddress listening = (InetSocketAddress) Objects.requireNonNull(pair.listener.getLocalAddress());
            InetAddress host = listening.getAddress();
            InetSocketAddress nobody = new InetSocketAddress(host, 9);
            name(addresses, listening, "listener");
            name(addresses, nobody, "nobody");
            name(addresses, pair.client.getLocalAddress(), "client");
            SocketChannel subject = switch (state) {
                case "fresh",
                        "fresh, not blocking",
                        "fresh and closed",
                        "bound",
                        "bound and closed",
                        "refused",
                        "refused later" -> fresh;
                default -> pair.client;
            };
            switch (state) {
                case "bound", "bound and closed" -> {
                    fresh.bind(new InetSocketAddress(host, 0));
                    name(addresses, fresh.getLocalAddress(), "bound");
                }
                case "refused" -> result(channel -> channel.connect(nobody), fresh, addresses);
                case "refused later" -> connectLater(fresh, nobody);
                case "not blocking", "not blocking and closed" -> pair.client.configureBlocking(false);
                case "fresh, not blocking" -> fresh.configureBlocking(false);
                case "ended" -> {
                    pair.server.shutdownOutput();
                    assertThat(pair.client.read(ByteBuffer.allocate(1))).isEqualTo(-1);
                }
                default -> {
                    // unchanged
                }
            }
            if (state.endsWith("closed")) {
                subject.close();
            }
            return results(OF_CHANNELS, subject, addresses);
        }
    }

    private static void connectLater(SocketChannel channel, InetSocketAddress to) throws Exception {
        channel.configureBlocking(false);
        try (Selector selector = channel.provider().openSelector()) {
            channel.register(selector, SelectionKey.OP_CONNECT);
            boolean refused = false;
            while (!refused) {
                refused = result(
                                each -> each.isConnectionPending() ? each.finishConnect() : each.connect(to),
                                channel,
                                Map.of())
                        .endsWith("Exception");
                if (!refused) {
                    selector.select(10);
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "fresh",
                "fresh and closed",
                "fresh, not blocking",
                "bound",
                "bound and closed",
                "connected",
                "connected and closed",
                "ended",
                "not blocking",
                "not blocking and closed",
                "refused",
                "refused later"
            })
    void channelBehavesLikeThePlatforms(String state) throws Exception {
        assertThat(differences(ofChannel(state, Platform.provider()), ofChannel(state, rdma())))
                .isEmpty();
    }

    private static Map<String, String> ofListener(String state, SelectorProvider provider) throws Exception {
        Map<Object, String> addresses = new LinkedHashMap<>();
        ServerSocketChannel listener = provider.openServerSocketChannel(java.net.StandardProtocolFamily.INET);
        try (listener) {
            if (state.startsWith("bound")) {
                listener.bind(new InetSocketAddress(Loopback.address(), 0));
                name(addresses, listener.getLocalAddress(), "listener");
            }
            if (state.contains("not blocking")) {
                listener.configureBlocking(false);
            }
            if (state.endsWith("closed")) {
                listener.close();
            }
            return results(OF_LISTENERS, listener, addresses);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "fresh",
                "fresh and closed",
                "fresh, not blocking",
                "bound",
                "bound and closed",
                "bound, not blocking",
                "bound, not blocking and closed"
            })
    void listenerBehavesLikeThePlatforms(String state) throws Exception {
        assertThat(differences(ofListener(state, Platform.provider()), ofListener(state, rdma())))
                .isEmpty();
    }
}
