package io.rdma4j.sockets.net;

import static io.rdma4j.sockets.nio.ChannelPrograms.get;
import static io.rdma4j.sockets.nio.ChannelPrograms.start;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.nio.ChannelPrograms.Call;
import io.rdma4j.sockets.nio.ChannelPrograms.Log;
import io.rdma4j.sockets.nio.ChannelPrograms.Task;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Programs observe the same results with deferred sockets, over RDMA or TCP, as with the platform's. */
@Timeout(60)
class SocketComparisonTest {
    /** A program that has two connected sockets. */
    private interface Program {
        void run(DeferredSockets.Pair pair, Results results) throws Exception;
    }

    /**
     * Observed results. For an exception, they contain the message, without the details that RDMA appends in
     * parentheses.
     */
    private record Results(Log log) {
        void of(String what, Call call) {
            log.note(what, () -> {
                try {
                    return call.call();
                } catch (IOException | RuntimeException e) {
                    String message = String.valueOf(e.getMessage());
                    return e.getClass().getSimpleName() + ": " + message.replaceFirst("(?s) \\(.*", "");
                }
            });
        }

        void run(String what, Task task) {
            of(what, () -> {
                task.run();
                return "done";
            });
        }
    }

    private static final Map<String, Program> PROGRAMS = new LinkedHashMap<>();

    static {
        PROGRAMS.put("addresses", SocketComparisonTest::addresses);
        PROGRAMS.put("data and its end", SocketComparisonTest::dataAndItsEnd);
        PROGRAMS.put("shut input", SocketComparisonTest::shutInput);
        PROGRAMS.put("shut output", SocketComparisonTest::shutOutput);
        PROGRAMS.put("timeouts", SocketComparisonTest::timeouts);
        PROGRAMS.put("options", SocketComparisonTest::options);
        PROGRAMS.put("options of a server", SocketComparisonTest::optionsOfAServer);
        PROGRAMS.put("sockets that are not connected", SocketComparisonTest::unconnected);
        PROGRAMS.put("closed sockets", SocketComparisonTest::closed);
        PROGRAMS.put("close during a call", SocketComparisonTest::closeDuringACall);
        PROGRAMS.put("connecting", SocketComparisonTest::connecting);
        PROGRAMS.put("binding", SocketComparisonTest::binding);
        PROGRAMS.put("interrupts of platform threads", SocketComparisonTest::interrupts);
        PROGRAMS.put("interrupts of virtual threads", SocketComparisonTest::interruptsOfVirtualThreads);
        PROGRAMS.put("virtual threads", SocketComparisonTest::virtualThreads);
    }

    private static void addresses(DeferredSockets.Pair pair, Results results) {
        Socket client = pair.client;
        Socket server = pair.server;
        results.of("remote of client", () -> client.getRemoteSocketAddress().equals(server.getLocalSocketAddress()));
        results.of("remote of server", () -> server.getRemoteSocketAddress().equals(client.getLocalSocketAddress()));
        results.of("port", () -> server.getLocalPort() == pair.listener.getLocalPort());
        results.of("address", () -> client.getInetAddress().equals(pair.address));
        results.of("local address", () -> server.getLocalAddress().equals(pair.address));
        results.of("channel", client::getChannel);
        results.of("text", () -> client.toString().replaceAll("[0-9]+", "N"));
        results.of("text of listener", () -> pair.listener.toString().replaceAll("[0-9]+", "N"));
        results.of("state", () -> client.isBound() + " " + client.isConnected() + " " + server.isClosed());
    }

    private static void dataAndItsEnd(DeferredSockets.Pair pair, Results results) throws IOException {
        OutputStream out = pair.client.getOutputStream();
        InputStream in = pair.server.getInputStream();
        results.of("available", in::available);
        out.write("hello".getBytes(US_ASCII));
        results.of("first", in::read);
        results.of("rest", () -> new String(in.readNBytes(4), US_ASCII));
        results.of("nothing", () -> in.read(new byte[0]));
        out.write(new byte[] {1, 2, 3}, 1, 2);
        byte[] target = new byte[6];
        results.of("part", () -> in.readNBytes(target, 2, 2));
        results.of("target", () -> List.of(target[1], target[2], target[3], target[4]));
        results.of("out of bounds", () -> in.read(target, 5, 2));
        results.run("write out of bounds", () -> out.write(target, 5, 2));
        out.write(200);
        pair.client.close();
        results.of("byte", in::read);
        results.of("end", in::read);
        results.of("end again", () -> in.read(target));
        results.of("skipped", () -> in.skip(5));
        results.of("available at end", in::available);
    }

    private static void shutInput(DeferredSockets.Pair pair, Results results) throws Exception {
        InputStream in = pair.client.getInputStream();
        FutureTask<Integer> reader = start(in::read);
        pair.server.getOutputStream().write(1);
        results.of("reader", () -> get(reader));
        results.run("shut", pair.client::shutdownInput);
        results.run("shut again", pair.client::shutdownInput);
        results.of("is shut", pair.client::isInputShutdown);
        results.of("read", in::read);
        results.of("available", in::available);
        results.of("stream", pair.client::getInputStream);
        results.run("write", () -> pair.client.getOutputStream().write(2));
        results.of("other side", () -> pair.server.getInputStream().read());
    }

    private static void shutOutput(DeferredSockets.Pair pair, Results results) throws Exception {
        OutputStream out = pair.client.getOutputStream();
        out.write(1);
        results.run("shut", pair.client::shutdownOutput);
        results.run("shut again", pair.client::shutdownOutput);
        results.of("is shut", pair.client::isOutputShutdown);
        results.of("other side", () -> pair.server.getInputStream().read());
        results.of("its end", () -> pair.server.getInputStream().read());
        results.run("write", () -> out.write(2));
        results.of("stream", pair.client::getOutputStream);
        pair.server.getOutputStream().write(3);
        results.of("read", () -> pair.client.getInputStream().read());
    }

    private static void timeouts(DeferredSockets.Pair pair, Results results) throws Exception {
        pair.client.setSoTimeout(30);
        InputStream in = pair.client.getInputStream();
        results.of("read", in::read);
        pair.server.getOutputStream().write(4);
        pair.client.setSoTimeout(0);
        results.of("later", in::read);
        pair.listener.setSoTimeout(30);
        results.of("accept", pair.listener::accept);
        results.of("timeout", pair.listener::getSoTimeout);
        try (Socket next = pair.sockets.socket()) {
            pair.listener.setSoTimeout(20_000);
            next.connect(pair.listener.getLocalSocketAddress(), 20_000);
            try (Socket accepted = pair.listener.accept()) {
                results.of("timeout of accepted", accepted::getSoTimeout);
                next.getOutputStream().write(5);
                results.of("data", () -> accepted.getInputStream().read());
            }
        }
        results.run("negative", () -> pair.client.setSoTimeout(-1));
    }

    private static List<SocketOption<?>> sorted(java.util.Set<SocketOption<?>> options) {
        List<SocketOption<?>> all = new ArrayList<>(options);
        all.sort(Comparator.comparing(SocketOption::name));
        return all;
    }

    @SuppressWarnings("unchecked")
    private static void options(DeferredSockets.Pair pair, Results results) throws Exception {
        try (Socket fresh = pair.sockets.socket()) {
            results.of("supported", () -> sorted(fresh.supportedOptions()));
            fresh.setTcpNoDelay(true);
            fresh.setSoLinger(true, 3);
            fresh.setOOBInline(true);
            fresh.setKeepAlive(true);
            fresh.setTrafficClass(0x20);
            fresh.setSoTimeout(15_000);
            for (SocketOption<?> option : sorted(fresh.supportedOptions())) {
                if (option.type() == Boolean.class) {
                    results.run("set " + option, () -> fresh.setOption((SocketOption<Boolean>) option, true));
                }
            }
            fresh.setOption(StandardSocketOptions.SO_REUSEPORT, false);
            for (int i = 0; i < 2; i++) {
                results.of("no delay", fresh::getTcpNoDelay);
                results.of("linger", fresh::getSoLinger);
                results.of("urgent inline", fresh::getOOBInline);
                results.of("keep-alive", fresh::getKeepAlive);
                results.of("traffic class", fresh::getTrafficClass);
                results.of("timeout", fresh::getSoTimeout);
                results.of("reuse", fresh::getReuseAddress);
                for (SocketOption<?> option : sorted(fresh.supportedOptions())) {
                    if (!option.name().endsWith("BUF") && !option.name().equals("TCP_QUICKACK")) {
                        results.of(option.name(), () -> fresh.getOption(option));
                    }
                }
                results.of("buffers", () -> fresh.getSendBufferSize() > 0 && fresh.getReceiveBufferSize() > 0);
                results.run("no linger", () -> fresh.setSoLinger(false, 0));
                results.run("null option", () -> fresh.setOption(null, 1));
                results.run("null value", () -> fresh.setOption(StandardSocketOptions.TCP_NODELAY, null));
                results.run("unsupported", () -> fresh.setOption(StandardSocketOptions.IP_MULTICAST_LOOP, true));
                results.of("unsupported", () -> fresh.getOption(StandardSocketOptions.IP_MULTICAST_LOOP));
                results.run("zero", () -> fresh.setSendBufferSize(0));
                if (i == 0) {
                    fresh.connect(pair.listener.getLocalSocketAddress());
                }
            }
        }
        results.of("unset", () -> pair.client.getOption(StandardSocketOptions.SO_REUSEPORT));
        results.of("unset inline", pair.server::getOOBInline);
    }

    private static void optionsOfAServer(DeferredSockets.Pair pair, Results results) throws Exception {
        try (ServerSocket fresh = pair.sockets.serverSocket()) {
            results.of("supported", () -> sorted(fresh.supportedOptions()));
            fresh.setReuseAddress(true);
            fresh.setSoTimeout(20);
            fresh.setOption(StandardSocketOptions.SO_REUSEPORT, true);
            for (int i = 0; i < 2; i++) {
                results.of("reuse", fresh::getReuseAddress);
                results.of("timeout", fresh::getSoTimeout);
                results.of("reuse port", () -> fresh.getOption(StandardSocketOptions.SO_REUSEPORT));
                results.of("buffer", () -> fresh.getReceiveBufferSize() > 0);
                results.of("accept", fresh::accept);
                if (i == 0) {
                    fresh.bind(new InetSocketAddress(pair.address, 0), 3);
                }
            }
        }
    }

    private static void unconnected(DeferredSockets.Pair pair, Results results) throws Exception {
        try (Socket fresh = pair.sockets.socket();
                ServerSocket listener = pair.sockets.serverSocket()) {
            results.of("input", fresh::getInputStream);
            results.of("output", fresh::getOutputStream);
            results.run("shut input", fresh::shutdownInput);
            results.run("shut output", fresh::shutdownOutput);
            results.of("address", fresh::getInetAddress);
            results.of("local", fresh::getLocalSocketAddress);
            results.of("local address", fresh::getLocalAddress);
            results.of("port", () -> fresh.getPort() + " " + fresh.getLocalPort());
            results.of("text", fresh::toString);
            results.of("accept", listener::accept);
            results.of("listener", () -> listener.getInetAddress() + " " + listener.getLocalPort());
            results.of("listener", listener::toString);
        }
        Socket neverUsed = pair.sockets.socket();
        results.run("close", neverUsed::close);
        results.of("state", () -> neverUsed.isClosed() + " " + neverUsed.isConnected());
        results.run("connect", () -> neverUsed.connect(pair.listener.getLocalSocketAddress()));
    }

    private static void closed(DeferredSockets.Pair pair, Results results) throws Exception {
        InputStream in = pair.client.getInputStream();
        OutputStream out = pair.client.getOutputStream();
        results.run("close", in::close);
        results.of("is closed", pair.client::isClosed);
        results.run("close again", pair.client::close);
        results.of("read", in::read);
        results.run("write", () -> out.write(1));
        results.of("available", in::available);
        results.of("input", pair.client::getInputStream);
        results.run("shut", pair.client::shutdownOutput);
        results.of("option", pair.client::getTcpNoDelay);
        results.run("connect", () -> pair.client.connect(pair.listener.getLocalSocketAddress()));
        results.run("bind", () -> pair.client.bind(null));
        results.of("state", () -> pair.client.isConnected() + " " + pair.client.isBound());
        results.run("close listener", pair.listener::close);
        results.of("accept", pair.listener::accept);
        results.run("bind listener", () -> pair.listener.bind(null));
        results.of("timeout", pair.listener::getSoTimeout);
    }

    private static void closeDuringACall(DeferredSockets.Pair pair, Results results) throws Exception {
        FutureTask<Integer> reader = start(pair.client.getInputStream()::read);
        FutureTask<Socket> acceptor = start(pair.listener::accept);
        pair.server.getOutputStream().write(1);
        results.of("first read", () -> get(reader));
        FutureTask<Integer> waiting = start(pair.client.getInputStream()::read);
        while (waiting.isDone() || acceptor.isDone() || !isWaiting()) {
            Thread.sleep(1);
        }
        pair.client.close();
        pair.listener.close();
        results.of("reader", () -> get(waiting));
        results.of("acceptor", () -> get(acceptor));
        results.of("other side", () -> pair.server.getInputStream().read());
    }

    /** Returns whether a reader and an acceptor are inside their calls. */
    private static boolean isWaiting() {
        return Thread.getAllStackTraces().values().stream()
                        .flatMap(java.util.Arrays::stream)
                        .filter(frame -> frame.getMethodName().equals("read")
                                        && frame.getClassName().endsWith("SocketImpl")
                                || frame.getMethodName().equals("implAccept"))
                        .map(StackTraceElement::getMethodName)
                        .distinct()
                        .count()
                == 2;
    }

    private static void connecting(DeferredSockets.Pair pair, Results results) throws Exception {
        results.run("twice", () -> pair.client.connect(pair.listener.getLocalSocketAddress()));
        int closedPort;
        try (ServerSocket gone = pair.sockets.serverSocket()) {
            gone.bind(new InetSocketAddress(pair.address, 0));
            closedPort = gone.getLocalPort();
        }
        try (Socket fresh = pair.sockets.socket()) {
            results.run("refused", () -> fresh.connect(new InetSocketAddress(pair.address, closedPort), 10_000));
            results.of("is closed", fresh::isClosed);
        }
        try (Socket fresh = pair.sockets.socket()) {
            results.run("unresolved", () -> fresh.connect(InetSocketAddress.createUnresolved("no.such.invalid", 1)));
            results.of("is closed", fresh::isClosed);
        }
        try (Socket fresh = pair.sockets.socket()) {
            results.run("null", () -> fresh.connect(null));
            results.run("negative", () -> fresh.connect(pair.listener.getLocalSocketAddress(), -1));
            results.of("open", () -> !fresh.isClosed());
            fresh.connect(pair.listener.getLocalSocketAddress(), 20_000);
            results.of("connected", fresh::isConnected);
        }
    }

    private static void binding(DeferredSockets.Pair pair, Results results) throws Exception {
        try (ServerSocket second = pair.sockets.serverSocket()) {
            results.run("port in use", () -> second.bind(pair.listener.getLocalSocketAddress()));
            results.of("bound", second::isBound);
            results.run("foreign", () -> second.bind(new InetSocketAddress("192.0.2.1", 0)));
        }
        try (ServerSocket any = pair.sockets.serverSocket();
                Socket fresh = pair.sockets.socket()) {
            any.bind(null);
            results.of("any", any::getInetAddress);
            results.run("again", () -> any.bind(null));
            fresh.bind(new InetSocketAddress(pair.address, 0));
            int port = fresh.getLocalPort();
            results.run("again", () -> fresh.bind(null));
            results.of("local", () -> fresh.getLocalAddress().equals(pair.address));
            fresh.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), any.getLocalPort()));
            results.of("same port", () -> fresh.getLocalPort() == port);
            results.of("same address", () -> fresh.getLocalAddress().equals(pair.address));
            try (Socket accepted = any.accept()) {
                results.of("peer", () -> accepted.getRemoteSocketAddress().equals(fresh.getLocalSocketAddress()));
            }
        }
    }

    private static void interrupts(DeferredSockets.Pair pair, Results results) throws Exception {
        Thread current = Thread.currentThread();
        current.interrupt();
        try (Socket fresh = pair.sockets.socket()) {
            fresh.connect(pair.listener.getLocalSocketAddress());
            try (Socket accepted = pair.listener.accept()) {
                var _ = start(() -> {
                    fresh.getOutputStream().write(7);
                    return null;
                });
                results.of("read", () -> accepted.getInputStream().read());
                results.of("open", () -> !accepted.isClosed());
            }
        } finally {
            results.of("interrupted", Thread::interrupted);
        }
    }

    private static void interruptsOfVirtualThreads(DeferredSockets.Pair pair, Results results) throws Exception {
        InputStream in = pair.client.getInputStream();
        FutureTask<Integer> reading = new FutureTask<>(in::read);
        Thread reader = Thread.ofVirtual().start(reading);
        reader.interrupt();
        results.of("reader", () -> get(reading));
        results.of("closed", pair.client::isClosed);
        FutureTask<Socket> accepting = new FutureTask<>(pair.listener::accept);
        Thread acceptor = Thread.ofVirtual().start(accepting);
        acceptor.interrupt();
        results.of("acceptor", () -> get(accepting));
        results.of("listener closed", pair.listener::isClosed);
    }

    private static void virtualThreads(DeferredSockets.Pair pair, Results results) throws Exception {
        FutureTask<String> echo = new FutureTask<>(() -> {
            try (Socket accepted = pair.listener.accept()) {
                return new String(accepted.getInputStream().readAllBytes(), US_ASCII);
            }
        });
        Thread.ofVirtual().start(echo);
        FutureTask<Boolean> sender = new FutureTask<>(() -> {
            try (Socket fresh = pair.sockets.socket()) {
                fresh.connect(pair.listener.getLocalSocketAddress(), 20_000);
                fresh.getOutputStream().write("from a virtual thread".getBytes(US_ASCII));
                return fresh.isConnected();
            }
        });
        Thread.ofVirtual().start(sender);
        results.of("sender", () -> get(sender));
        results.of("receiver", () -> get(echo));
    }

    static List<Arguments> programs() {
        List<Arguments> all = new ArrayList<>();
        for (String name : PROGRAMS.keySet()) {
            for (String transport : List.of("rdma", "tcp", "either")) {
                all.add(Arguments.of(name, transport));
            }
        }
        return all;
    }

    private static List<String> seen(String name, DeferredSockets sockets) throws Exception {
        Log log = new Log();
        try (DeferredSockets.Pair pair = new DeferredSockets.Pair(sockets)) {
            Objects.requireNonNull(PROGRAMS.get(name)).run(pair, new Results(log));
        }
        return log.seen;
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("programs")
    void programObservesTheSameAsOnThePlatform(String name, String transport) throws Exception {
        assertThat(seen(name, DeferredSockets.by("*=" + transport)))
                .isEqualTo(seen(name, DeferredSockets.ofPlatform()));
    }
}
