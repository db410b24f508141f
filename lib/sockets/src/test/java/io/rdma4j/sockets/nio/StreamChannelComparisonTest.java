package io.rdma4j.sockets.nio;

import static io.rdma4j.sockets.nio.ChannelPrograms.PATIENCE_MILLIS;
import static io.rdma4j.sockets.nio.ChannelPrograms.awaitReadable;
import static io.rdma4j.sockets.nio.ChannelPrograms.awaitReady;
import static io.rdma4j.sockets.nio.ChannelPrograms.awaitWaiting;
import static io.rdma4j.sockets.nio.ChannelPrograms.bytes;
import static io.rdma4j.sockets.nio.ChannelPrograms.get;
import static io.rdma4j.sockets.nio.ChannelPrograms.start;
import static io.rdma4j.sockets.nio.ChannelPrograms.text;
import static java.nio.channels.SelectionKey.OP_ACCEPT;
import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.options.AddressRules;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Programs observe the same results with connected channels and their sockets as with the platform's. */
@Timeout(60)
class StreamChannelComparisonTest {
    private static final ChannelPrograms.Programs PROGRAMS = new ChannelPrograms.Programs();

    static {
        PROGRAMS.pair("reads and their positions", (pair, log) -> {
            pair.client.write(bytes(1, 2, 3, 4, 5));
            awaitReadable(pair.server);
            ByteBuffer target = ByteBuffer.allocate(10).position(2).limit(5);
            log.note("short", () -> pair.server.read(target));
            log.note("target", text(target));
            ByteBuffer direct = ByteBuffer.allocateDirect(8).position(6);
            log.note("direct", () -> pair.server.read(direct));
            log.note("position", direct.position());
            log.note("nothing", () -> pair.server.read(ByteBuffer.allocate(1)));
            log.note("nothing for several", () -> pair.server.read(new ByteBuffer[] {ByteBuffer.allocate(1)}));
            pair.client.shutdownOutput();
            awaitReadable(pair.server);
            log.note("empty at the end", () -> pair.server.read(ByteBuffer.allocate(0)));
            log.note("several empty at the end", () -> pair.server.read(new ByteBuffer[] {ByteBuffer.allocate(0)}));
            log.note("end", () -> pair.server.read(ByteBuffer.allocate(1)));
            log.note("end of several", () -> pair.server.read(new ByteBuffer[] {ByteBuffer.allocate(1)}));
            log.note("end again", () -> pair.server.read(ByteBuffer.allocate(1)));
            log.note("the other direction", () -> pair.server.write(bytes(9)));
            pair.server.configureBlocking(true);
            log.note("end, waiting", () -> pair.server.read(ByteBuffer.allocate(1)));
            log.note("client", () -> pair.client.read(ByteBuffer.allocate(4)));
        });
        PROGRAMS.pair("scattering and gathering", (pair, log) -> {
            ByteBuffer[] sources = {bytes(1, 2), bytes(), bytes(3, 4, 5).position(1), bytes(9)};
            log.note("gathered", () -> pair.client.write(sources, 0, 3));
            log.note("sources", text(sources));
            while (pair.server.socket().getInputStream().available() < 4) {
                Thread.onSpinWait();
            }
            ByteBuffer[] targets = {
                bytes(0), ByteBuffer.allocate(0), ByteBuffer.allocate(2).position(1), bytes(0, 0, 0)
            };
            log.note("scattered", () -> pair.server.read(targets, 1, 3));
            log.note("targets", text(targets));
            log.note("no buffers", () -> pair.server.read(new ByteBuffer[0]));
            log.note("no sources", () -> pair.client.write(new ByteBuffer[0]));
            log.note("out of bounds", () -> pair.server.read(targets, 3, 2));
            log.note("negative", () -> pair.client.write(targets, -1, 1));
            log.note("null array", () -> pair.client.write((ByteBuffer[]) null, 0, 0));
            log.note("null buffer", () -> pair.client.write((ByteBuffer) null));
            log.note("null in array", () -> pair.client.write(new ByteBuffer[] {null}));
            log.note("null after a buffer", () -> pair.client.write(new ByteBuffer[] {bytes(1), null}));
            log.note("null target", () -> pair.server.read((ByteBuffer) null));
            log.note("null in targets", () -> pair.server.read(new ByteBuffer[] {null}));
            log.note("read-only", () -> pair.server.read(bytes(0).asReadOnlyBuffer()));
            log.note(
                    "read-only in targets",
                    () -> pair.server.read(new ByteBuffer[] {bytes(0), bytes(0).asReadOnlyBuffer()}));
            log.note("read-only source", () -> pair.client.write(bytes(1).asReadOnlyBuffer()));
        });
        PROGRAMS.pair("a writer that does not block", (pair, log) -> {
            pair.client.configureBlocking(false);
            ByteBuffer source = ByteBuffer.allocate(100_000);
            int count;
            do {
                int before = source.clear().position();
                count = pair.client.write(source);
                assertThat(source.position() - before).isEqualTo(count);
            } while (count > 0);
            log.note("full", count);
        });
        PROGRAMS.pair("input shut", (pair, log) -> {
            FutureTask<Integer> reading = start(() -> pair.client.read(ByteBuffer.allocate(1)));
            awaitWaiting(reading, pair.client);
            pair.client.shutdownInput();
            log.note("reader that waits", () -> get(reading));
            log.note("reads", () -> pair.client.read(ByteBuffer.allocate(1)));
            log.note("several", () -> pair.client.read(new ByteBuffer[] {ByteBuffer.allocate(1)}));
            log.note("several empty", () -> pair.client.read(new ByteBuffer[] {ByteBuffer.allocate(0)}));
            log.note("writes", () -> pair.client.write(bytes(1)));
            try (Selector selector = pair.selector(OP_READ | OP_WRITE, 0)) {
                log.note("select", () -> selector.select(PATIENCE_MILLIS));
                log.note("ready", selector.selectedKeys().iterator().next().readyOps());
            }
        });
        PROGRAMS.pair("output shut", (pair, log) -> {
            pair.client.shutdownOutput();
            log.note("writes", () -> pair.client.write(bytes(1)));
            log.note("gathers", () -> pair.client.write(new ByteBuffer[] {bytes(1)}));
            log.note("nothing", () -> pair.client.write(bytes()));
            log.note("open", pair.client.isOpen());
            log.note("peer reads", () -> pair.server.read(ByteBuffer.allocate(1)));
            log.note("peer writes", () -> pair.server.write(bytes(1)));
            try (Selector selector = pair.selector(OP_READ | OP_WRITE, OP_READ | OP_WRITE)) {
                log.note("select", () -> selector.select(PATIENCE_MILLIS));
                awaitReady(selector, pair.client, OP_READ | OP_WRITE);
                awaitReady(selector, pair.server, OP_READ | OP_WRITE);
            }
            log.note("client reads", () -> pair.client.read(ByteBuffer.allocate(2)));
        });
        PROGRAMS.pair("both ends shut their output", (pair, log) -> {
            pair.client.shutdownOutput();
            pair.server.shutdownOutput();
            log.note("client", () -> pair.client.read(ByteBuffer.allocate(2)));
            log.note("server", () -> pair.server.read(ByteBuffer.allocate(2)));
            try (Selector selector = pair.selector(OP_READ | OP_WRITE, OP_READ | OP_WRITE)) {
                awaitReady(selector, pair.client, OP_READ | OP_WRITE);
                awaitReady(selector, pair.server, OP_READ | OP_WRITE);
            }
        });
        PROGRAMS.pair("the peer closes", (pair, log) -> {
            pair.server.close();
            log.note("read", () -> pair.client.read(ByteBuffer.allocate(2)));
            log.note("read again", () -> pair.client.read(ByteBuffer.allocate(2)));
            log.note("connected", pair.client.isConnected());
            log.note("shut", () -> pair.client.shutdownOutput().equals(pair.client));
            log.note("write", () -> pair.client.write(bytes(1)));
        });
        PROGRAMS.pair("streams of the socket", (pair, log) -> {
            InputStream in = pair.client.socket().getInputStream();
            OutputStream out = pair.client.socket().getOutputStream();
            FutureTask<Integer> reading = start(in::read);
            awaitWaiting(reading, pair.client);
            log.run("write beside a reader", () -> out.write(new byte[] {7}));
            log.note("peer", () -> pair.server.read(ByteBuffer.allocate(1)));
            pair.server.write(bytes(200));
            log.note("read", () -> get(reading));
            log.note("empty", () -> in.read(new byte[0]));
            log.note("no bytes", () -> in.read(new byte[4], 4, 0));
            log.note("bounds", () -> in.read(new byte[4], 3, 2));
            log.note("null", () -> in.read(null, 0, 1));
            log.run("bounds", () -> out.write(new byte[4], 3, 2));
            log.run("null", () -> out.write(null, 0, 1));
            log.run("null", () -> out.write(null));
            log.run("nothing", () -> out.write(new byte[0]));
            log.note("available", () -> in.available());
            pair.client.socket().setSoTimeout(20);
            log.note("time-out", () -> in.read());
            log.note(
                    "time-out of a stream made later",
                    () -> pair.client.socket().getInputStream().read());
            pair.server.write(bytes(1, 2, 3, 4));
            log.note("then", () -> in.read());
            log.note("available", () -> in.available());
            log.note("skip", () -> in.skip(2));
            log.note("rest", () -> Arrays.toString(in.readNBytes(1)));
            pair.client.configureBlocking(false);
            log.note("not blocking", () -> in.read());
            log.run("not blocking", () -> out.write(1));
            log.note("not blocking, empty", () -> in.read(new byte[0]));
            log.run("not blocking, empty", () -> out.write(new byte[0]));
            log.note("not blocking, available", () -> in.available());
            pair.client.configureBlocking(true);
            pair.server.shutdownOutput();
            log.note("end", () -> in.read());
            log.note("end", () -> in.read(new byte[2]));
            log.note("end, empty", () -> in.read(new byte[0]));
            log.note("available at the end", () -> in.available());
            pair.client.shutdownInput();
            log.note("shut", () -> in.read());
            log.note("shut, available", () -> in.available());
            log.note("shut, in", () -> pair.client.socket().getInputStream());
            pair.client.shutdownOutput();
            log.run("shut, write", () -> out.write(1));
            log.note("shut, out", () -> pair.client.socket().getOutputStream());
            in.close();
            log.note("open", pair.client.isOpen());
            log.note("closed", () -> in.read());
            log.note("closed, empty", () -> in.read(new byte[0]));
            log.note("closed, available", () -> in.available());
            log.note("closed, skip", () -> in.skip(1));
            log.run("closed", () -> out.write(1));
            log.run("closed, empty", () -> out.write(new byte[0]));
            log.run("closed, flush", out::flush);
            log.run("closed, close", in::close);
            log.run("closed, time-out", () -> pair.client.socket().setSoTimeout(1));
            log.run("closed, no delay", () -> pair.client.socket().setTcpNoDelay(true));
        });
        PROGRAMS.pair("a time-out and the reader after it", (pair, log) -> {
            Socket socket = pair.client.socket();
            socket.setSoTimeout(20);
            log.note("time-out", () -> socket.getInputStream().read(new byte[10]));
            socket.setSoTimeout(0);
            FutureTask<Integer> reading = start(() -> pair.client.read(ByteBuffer.allocate(5)));
            awaitWaiting(reading, pair.client);
            pair.server.write(bytes(1, 2));
            log.note("read", () -> get(reading));
            log.note("available", () -> socket.getInputStream().available());
        });
        PROGRAMS.pair("closed channels", (pair, log) -> {
            pair.client.close();
            log.run("close", pair.client::close);
            log.note("read", () -> pair.client.read(ByteBuffer.allocate(1)));
            log.note("read empty", () -> pair.client.read(ByteBuffer.allocate(0)));
            log.note("read null", () -> pair.client.read((ByteBuffer) null));
            log.note("scatter", () -> pair.client.read(new ByteBuffer[] {ByteBuffer.allocate(1)}));
            log.note("scatter read-only", () -> pair.client.read(bytes(1).asReadOnlyBuffer()));
            log.note("write", () -> pair.client.write(bytes(1)));
            log.note("gather", () -> pair.client.write(new ByteBuffer[] {bytes(1)}));
            log.note("finish", () -> pair.client.finishConnect());
            log.note("connect", () -> pair.client.connect(pair.listener.getLocalAddress()));
            log.note("bind", () -> pair.client.bind(null));
            log.note("shut", () -> pair.client.shutdownInput());
            log.note("shut", () -> pair.client.shutdownOutput());
            log.note("local", () -> pair.client.getLocalAddress());
            log.note("remote", () -> pair.client.getRemoteAddress());
            log.note("blocking", () -> pair.client.configureBlocking(false));
            log.note("option", () -> pair.client.getOption(java.net.StandardSocketOptions.SO_LINGER));
            try (Selector selector = pair.client.provider().openSelector()) {
                log.note("register", () -> pair.client.register(selector, 0));
            }
            pair.listener.close();
            log.note("accept", () -> pair.listener.accept());
            log.note("bind", () -> pair.listener.bind(null));
            log.note("local", () -> pair.listener.getLocalAddress());
        });
        PROGRAMS.pair("accepting", (pair, log) -> {
            ServerSocketChannel listener = pair.listener;
            listener.socket().setSoTimeout(20);
            log.note("time-out", () -> listener.socket().accept());
            try (SocketChannel client = listener.provider().openSocketChannel(StandardProtocolFamily.INET)) {
                client.connect(listener.getLocalAddress());
                try (Socket accepted = listener.socket().accept()) {
                    log.note(
                            "accepted",
                            accepted.isConnected() + " " + accepted.getChannel().isBlocking());
                    log.note(
                            "port", accepted.getLocalPort() == listener.socket().getLocalPort());
                    log.note("remote", accepted.getRemoteSocketAddress().equals(client.getLocalAddress()));
                }
            }
            listener.configureBlocking(false);
            log.note("none", () -> listener.accept());
            log.note("socket, none", () -> listener.socket().accept());
            try (Selector selector = listener.provider().openSelector();
                    SocketChannel client = listener.provider().openSocketChannel(StandardProtocolFamily.INET)) {
                log.note("wrong ops", () -> listener.register(selector, OP_READ));
                SelectionKey key = listener.register(selector, OP_ACCEPT);
                log.note("nobody", () -> selector.selectNow());
                client.connect(listener.getLocalAddress());
                log.note("somebody", () -> selector.select(PATIENCE_MILLIS));
                log.note("ready", key.readyOps());
                try (SocketChannel accepted = listener.accept()) {
                    log.note("blocking", accepted.isBlocking());
                    selector.selectedKeys().clear();
                    log.note("nobody", () -> selector.selectNow());
                }
            }
            log.note("bind again", () -> listener.bind(null));
        });
        PROGRAMS.pair("files", (pair, log) -> {
            Path file = Files.createTempFile("conduct", ".bin");
            byte[] content = new byte[50_000];
            Arrays.fill(content, (byte) 3);
            Files.write(file, content);
            try (FileChannel channel = FileChannel.open(
                    file, java.nio.file.StandardOpenOption.READ, java.nio.file.StandardOpenOption.WRITE)) {
                log.note("to", () -> channel.transferTo(100, 40_000, pair.client));
                log.note("position", channel.position());
                log.note("from", () -> {
                    long all = 0;
                    while (all < 30_000) {
                        all += channel.transferFrom(pair.server, 50_000 + all, 30_000 - all);
                    }
                    return all;
                });
                log.note("size", channel.size());
                pair.client.shutdownOutput();
                log.note("rest", () -> {
                    long all = 0;
                    long count = 1;
                    while (count > 0) {
                        count = channel.transferFrom(pair.server, all, 20_000);
                        all += count;
                    }
                    return all;
                });
                log.note("to shut", () -> channel.transferTo(0, 10, pair.client));
                pair.server.configureBlocking(false);
                log.note("to one that does not block", () -> channel.transferTo(0, 10, pair.server));
                pair.server.close();
                log.note("from closed", () -> channel.transferFrom(pair.server, 0, 10));
                log.note("to closed", () -> channel.transferTo(0, 10, pair.server));
            } finally {
                Files.delete(file);
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
