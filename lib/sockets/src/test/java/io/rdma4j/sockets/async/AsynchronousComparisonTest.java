package io.rdma4j.sockets.async;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaAsynchronousChannelProvider;
import io.rdma4j.sockets.nio.ChannelPrograms;
import io.rdma4j.sockets.nio.ChannelPrograms.Log;
import io.rdma4j.sockets.nio.Loopback;
import io.rdma4j.sockets.options.AddressRules;
import java.io.Closeable;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.nio.channels.spi.AsynchronousChannelProvider;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Programs observe the same results with asynchronous channels, over RDMA or TCP, as with the platform's. */
@Timeout(60)
class AsynchronousComparisonTest {
    /** A program that has two connected channels. */
    private interface Program {
        void run(Pair pair, Log log) throws Exception;
    }

    private static final Map<String, Program> PROGRAMS = new LinkedHashMap<>();

    static {
        PROGRAMS.put("data and its end", AsynchronousComparisonTest::dataAndItsEnd);
        PROGRAMS.put("handlers", AsynchronousComparisonTest::handlers);
        PROGRAMS.put("scattering and gathering", AsynchronousComparisonTest::scatteringAndGathering);
        PROGRAMS.put("pending operations", AsynchronousComparisonTest::pendingOperations);
        PROGRAMS.put("timeouts", AsynchronousComparisonTest::timeouts);
        PROGRAMS.put("cancelled operations", AsynchronousComparisonTest::cancelledOperations);
        PROGRAMS.put("close with pending operations", AsynchronousComparisonTest::closeWithPendingOperations);
        PROGRAMS.put("closed channels", AsynchronousComparisonTest::closedChannels);
        PROGRAMS.put("shut directions", AsynchronousComparisonTest::shutDirections);
        PROGRAMS.put("connecting", AsynchronousComparisonTest::connecting);
        PROGRAMS.put("channels that are not connected", AsynchronousComparisonTest::unconnected);
        PROGRAMS.put("addresses and options", AsynchronousComparisonTest::addressesAndOptions);
        PROGRAMS.put("groups", AsynchronousComparisonTest::groups);
        PROGRAMS.put("large transfers", AsynchronousComparisonTest::largeTransfers);
    }

    /** Two connected channels and their listener, on a separate loopback address. */
    private static final class Pair implements Closeable {
        final AsynchronousChannelProvider provider;
        final InetAddress address = Loopback.address();
        final AsynchronousServerSocketChannel listener;
        final AsynchronousSocketChannel client;
        final AsynchronousSocketChannel server;

        Pair(AsynchronousChannelProvider provider) throws Exception {
            this.provider = provider;
            listener = provider.openAsynchronousServerSocketChannel(null);
            listener.bind(new InetSocketAddress(address, 0));
            client = provider.openAsynchronousSocketChannel(null);
            Future<AsynchronousSocketChannel> accepted = listener.accept();
            get(client.connect(listener.getLocalAddress()));
            server = get(accepted);
        }

        @Override
        public void close() throws java.io.IOException {
            client.close();
            server.close();
            listener.close();
        }
    }

    private static <T> T get(Future<T> future) throws Exception {
        try {
            return future.get(ChannelPrograms.PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException failed) {
            throw failed.getCause() instanceof Exception cause ? cause : failed;
        }
    }

    /** A handler with a result that a program waits for. It notes the attachment. */
    private static final class Result<V> extends CompletableFuture<V> implements CompletionHandler<V, String> {
        private volatile String attachment = "";

        @Override
        public void completed(V value, String attached) {
            attachment = attached;
            complete(value);
        }

        @Override
        public void failed(Throwable why, String attached) {
            attachment = attached;
            completeExceptionally(why);
        }
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(US_ASCII));
    }

    private static void dataAndItsEnd(Pair pair, Log log) {
        log.note("written", () -> get(pair.client.write(bytes("hello"))));
        ByteBuffer target = ByteBuffer.allocate(10).position(2).limit(4);
        log.note("read", () -> get(pair.server.read(target)));
        log.note("position", target.position());
        log.note("rest", () -> get(pair.server.read(target.clear())));
        log.note("content", new String(target.array(), 0, 3, US_ASCII));
        log.note("empty", () -> get(pair.server.read(ByteBuffer.allocate(0))));
        log.note("nothing", () -> get(pair.client.write(ByteBuffer.allocate(0))));
        log.note("read-only", () -> get(pair.server.read(ByteBuffer.allocate(1).asReadOnlyBuffer())));
        log.note("null", () -> get(pair.server.read(null)));
        Future<Integer> waiting = pair.server.read(target.clear());
        log.note("done", waiting.isDone());
        log.note("written", () -> get(pair.client.write(bytes("x"))));
        log.note("read", () -> get(waiting));
        log.note("done", waiting.isDone() + " " + waiting.isCancelled() + " " + waiting.cancel(true));
        log.run("close", pair.client::close);
        log.note("end", () -> get(pair.server.read(target.clear())));
        log.note("end again", () -> get(pair.server.read(target.clear())));
    }

    private static void handlers(Pair pair, Log log) {
        Result<Integer> read = new Result<>();
        pair.server.read(ByteBuffer.allocate(3), "reader", read);
        Result<Integer> written = new Result<>();
        pair.client.write(bytes("abc"), "writer", written);
        log.note("written", () -> get(written));
        log.note("read", () -> get(read));
        log.note("attachments", () -> read.attachment + written.attachment);
        log.run("no handler", () -> pair.server.read(ByteBuffer.allocate(1), "x", null));
        log.run("no handler to write", () -> pair.server.write(bytes("a"), "x", null));
        log.run("no handler to accept", () -> pair.listener.accept("x", null));
        log.run("no handler to connect", () -> pair.client.connect(new InetSocketAddress(1), "x", null));
        Result<Integer> empty = new Result<>();
        pair.server.read(ByteBuffer.allocate(0), "empty", empty);
        log.note("empty", () -> get(empty));
        log.note("echoes", () -> get(echoes(pair, 200)));
    }

    /** Sends a byte back and forth, each time in the handler of the previous operation, and counts. */
    private static CompletableFuture<Integer> echoes(Pair pair, int most) {
        CompletableFuture<Integer> result = new CompletableFuture<>();
        class Echo implements CompletionHandler<Integer, Integer> {
            @Override
            public void completed(Integer bytes, Integer count) {
                if (count == most) {
                    result.complete(count);
                    return;
                }
                AsynchronousSocketChannel from = count % 4 < 2 ? pair.client : pair.server;
                AsynchronousSocketChannel to = count % 4 < 2 ? pair.server : pair.client;
                if (count % 2 == 0) {
                    from.write(ByteBuffer.allocate(1), count + 1, this);
                } else {
                    to.read(ByteBuffer.allocate(1), count + 1, this);
                }
            }

            @Override
            public void failed(Throwable why, Integer count) {
                result.completeExceptionally(why);
            }
        }
        new Echo().completed(0, 0);
        return result;
    }

    /** Reads until a number of bytes has arrived: the bytes of one write may arrive separately. */
    private static long readAll(AsynchronousSocketChannel from, ByteBuffer[] targets, long bytes) throws Exception {
        long total = 0;
        long count = 0;
        while (count >= 0 && total < bytes) {
            Result<Long> read = new Result<>();
            from.read(targets, 0, targets.length, 10, TimeUnit.SECONDS, "r", read);
            count = get(read);
            total += count;
        }
        return total;
    }

    private static void scatteringAndGathering(Pair pair, Log log) {
        ByteBuffer[] sources = {bytes("ab"), bytes(""), bytes("cde"), bytes("zz")};
        Result<Long> written = new Result<>();
        pair.client.write(sources, 0, 3, 0, TimeUnit.SECONDS, "w", written);
        log.note("written", () -> get(written));
        ByteBuffer[] targets = {ByteBuffer.allocate(1), ByteBuffer.allocate(0), ByteBuffer.allocate(9)};
        log.note("read", () -> readAll(pair.server, targets, 5));
        log.note("positions", targets[0].position() + " " + targets[2].position());
        Result<Long> none = new Result<>();
        pair.server.read(new ByteBuffer[0], 0, 0, 0, TimeUnit.SECONDS, "r", none);
        log.note("no buffers", () -> get(none));
        Result<Long> nothing = new Result<>();
        pair.client.write(new ByteBuffer[] {bytes("")}, 0, 1, 0, TimeUnit.SECONDS, "w", nothing);
        log.note("nothing", () -> get(nothing));
        Result<Long> refused = new Result<>();
        log.run("out of bounds", () -> pair.server.read(targets, 2, 2, 0, TimeUnit.SECONDS, "r", refused));
        ByteBuffer[] readOnly = {bytes("a").asReadOnlyBuffer()};
        log.run("read-only", () -> pair.server.read(readOnly, 0, 1, 0, TimeUnit.SECONDS, "r", refused));
    }

    private static void pendingOperations(Pair pair, Log log) throws Exception {
        Future<Integer> read = pair.server.read(ByteBuffer.allocate(1));
        log.note("second read", () -> get(pair.server.read(ByteBuffer.allocate(1))));
        log.note("empty read", () -> get(pair.server.read(ByteBuffer.allocate(0))));
        Future<AsynchronousSocketChannel> accept = pair.listener.accept();
        log.note("second accept", () -> get(pair.listener.accept()));
        log.note("write", () -> get(pair.server.write(bytes("a"))));
        log.note("other write", () -> get(pair.client.write(bytes("a"))));
        log.note("read", () -> get(read));
        try (AsynchronousSocketChannel next = pair.provider.openAsynchronousSocketChannel(null)) {
            log.note("connected", () -> get(next.connect(pair.listener.getLocalAddress())));
            try (AsynchronousSocketChannel accepted = get(accept)) {
                log.note("accepted", accepted.isOpen());
                log.note("remote", accepted.getRemoteAddress().equals(next.getLocalAddress()));
            }
        }
    }

    private static void timeouts(Pair pair, Log log) {
        Result<Integer> read = new Result<>();
        pair.server.read(ByteBuffer.allocate(1), 20, TimeUnit.MILLISECONDS, "r", read);
        log.note("read", () -> get(read));
        log.note("read again", () -> get(pair.server.read(ByteBuffer.allocate(1))));
        log.note("open", pair.server.isOpen());
        log.note("write", () -> get(pair.server.write(bytes("a"))));
        Result<Integer> inTime = new Result<>();
        pair.client.read(ByteBuffer.allocate(1), 20, TimeUnit.SECONDS, "r", inTime);
        log.note("in time", () -> get(inTime));
        Result<Integer> written = new Result<>();
        pair.client.write(bytes("a"), 20, TimeUnit.SECONDS, "w", written);
        log.note("written", () -> get(written));
    }

    private static void cancelledOperations(Pair pair, Log log) throws Exception {
        Future<Integer> read = pair.server.read(ByteBuffer.allocate(1));
        log.note("cancel", read.cancel(false));
        log.note("cancel again", read.cancel(false));
        log.note("state", read.isCancelled() + " " + read.isDone());
        log.note("result", () -> get(read));
        log.note("read again", () -> get(pair.server.read(ByteBuffer.allocate(1))));
        log.note("open", pair.server.isOpen());
        Future<Integer> other = pair.client.read(ByteBuffer.allocate(1));
        log.note("cancel and interrupt", other.cancel(true));
        log.note("open", pair.client.isOpen());
        log.note("its result", () -> get(other));
        Future<AsynchronousSocketChannel> accept = pair.listener.accept();
        log.note("cancel accept", accept.cancel(false));
        log.note("its result", () -> get(accept));
        log.note("open", pair.listener.isOpen());
    }

    private static void closeWithPendingOperations(Pair pair, Log log) throws Exception {
        Future<Integer> read = pair.server.read(ByteBuffer.allocate(1));
        Result<AsynchronousSocketChannel> accepted = new Result<>();
        pair.listener.accept("a", accepted);
        pair.server.close();
        pair.listener.close();
        log.note("read", () -> get(read));
        log.note("accepted", () -> get(accepted));
        log.note("other side", () -> get(pair.client.read(ByteBuffer.allocate(1))));
    }

    private static void closedChannels(Pair pair, Log log) throws Exception {
        pair.server.close();
        pair.server.close();
        pair.listener.close();
        log.note("read", () -> get(pair.server.read(ByteBuffer.allocate(1))));
        log.note("write", () -> get(pair.server.write(bytes("a"))));
        log.note("connect", () -> get(pair.server.connect(new InetSocketAddress(pair.address, 1))));
        log.note("accept", () -> get(pair.listener.accept()));
        Result<Integer> read = new Result<>();
        pair.server.read(ByteBuffer.allocate(1), "r", read);
        log.note("handler", () -> get(read));
        log.note("local", pair.server::getLocalAddress);
        log.note("remote", pair.server::getRemoteAddress);
        log.note("bound", pair.listener::getLocalAddress);
        log.run("bind", () -> pair.listener.bind(null));
        log.run("shut", pair.server::shutdownInput);
        log.note("option", () -> pair.server.getOption(StandardSocketOptions.TCP_NODELAY));
    }

    private static void shutDirections(Pair pair, Log log) {
        log.note("written", () -> get(pair.client.write(bytes("a"))));
        log.run("shut output", pair.client::shutdownOutput);
        log.run("again", pair.client::shutdownOutput);
        log.note("write", () -> get(pair.client.write(bytes("b"))));
        log.note("read", () -> get(pair.server.read(ByteBuffer.allocate(5))));
        log.note("end", () -> get(pair.server.read(ByteBuffer.allocate(5))));
        log.note("reply", () -> get(pair.server.write(bytes("cd"))));
        log.note("its receipt", () -> get(pair.client.read(ByteBuffer.allocate(2))));
        log.run("shut input", pair.client::shutdownInput);
        log.note("read", () -> get(pair.client.read(ByteBuffer.allocate(5))));
        log.note("empty", () -> get(pair.client.read(ByteBuffer.allocate(0))));
    }

    private static void connecting(Pair pair, Log log) throws Exception {
        log.note("connected", () -> get(pair.client.connect(pair.listener.getLocalAddress())));
        InetSocketAddress nobody;
        try (AsynchronousServerSocketChannel gone = pair.provider.openAsynchronousServerSocketChannel(null)) {
            gone.bind(new InetSocketAddress(pair.address, 0));
            nobody = (InetSocketAddress) gone.getLocalAddress();
        }
        try (AsynchronousSocketChannel fresh = pair.provider.openAsynchronousSocketChannel(null)) {
            log.note("unresolved", () -> get(fresh.connect(InetSocketAddress.createUnresolved("x", 1))));
            log.note("null", () -> get(fresh.connect(null)));
            log.note("open", fresh.isOpen());
            log.note("refused", () -> get(fresh.connect(nobody)));
            log.note("open", fresh.isOpen());
        }
        try (AsynchronousSocketChannel fresh = pair.provider.openAsynchronousSocketChannel(null)) {
            Result<Void> connected = new Result<>();
            fresh.connect(pair.listener.getLocalAddress(), "c", connected);
            log.note("connected", () -> get(connected));
            log.note("attachment", () -> connected.attachment);
        }
    }

    private static void unconnected(Pair pair, Log log) throws Exception {
        try (AsynchronousSocketChannel fresh = pair.provider.openAsynchronousSocketChannel(null);
                AsynchronousServerSocketChannel listener = pair.provider.openAsynchronousServerSocketChannel(null)) {
            log.note("read", () -> get(fresh.read(ByteBuffer.allocate(1))));
            log.note("write", () -> get(fresh.write(bytes("a"))));
            log.note("local", fresh::getLocalAddress);
            log.note("remote", fresh::getRemoteAddress);
            log.run("shut", fresh::shutdownInput);
            log.note("accept", () -> get(listener.accept()));
            log.note("bound", listener::getLocalAddress);
        }
    }

    private static void addressesAndOptions(Pair pair, Log log) throws Exception {
        log.note("local", pair.client.getLocalAddress().equals(pair.server.getRemoteAddress()));
        log.note("remote", pair.client.getRemoteAddress().equals(pair.listener.getLocalAddress()));
        log.run("bind connected", () -> pair.client.bind(null));
        log.run("bind again", () -> pair.listener.bind(null));
        try (AsynchronousSocketChannel fresh = pair.provider.openAsynchronousSocketChannel(null)) {
            log.run("set", () -> fresh.setOption(StandardSocketOptions.TCP_NODELAY, true));
            log.note("get", () -> fresh.getOption(StandardSocketOptions.TCP_NODELAY));
            log.run("unsupported", () -> fresh.setOption(StandardSocketOptions.IP_MULTICAST_LOOP, true));
            fresh.bind(new InetSocketAddress(pair.address, 0));
            InetSocketAddress local = (InetSocketAddress) fresh.getLocalAddress();
            log.note("bound", local.getAddress().equals(pair.address));
            log.run("bind twice", () -> fresh.bind(null));
            log.note("connected", () -> get(fresh.connect(pair.listener.getLocalAddress())));
            log.note("same", fresh.getLocalAddress().equals(local));
            log.note("kept", () -> fresh.getOption(StandardSocketOptions.TCP_NODELAY));
        }
    }

    private static void groups(Pair pair, Log log) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(2);
        AsynchronousChannelGroup group = pair.provider.openAsynchronousChannelGroup(pool, 1);
        AsynchronousSocketChannel fresh = pair.provider.openAsynchronousSocketChannel(group);
        log.note("connected", () -> get(fresh.connect(pair.listener.getLocalAddress())));
        Result<Integer> read = new Result<>();
        fresh.read(ByteBuffer.allocate(1), "r", read);
        group.shutdown();
        log.note("shut down", group.isShutdown() + " " + group.isTerminated());
        log.note("another", () -> pair.provider.openAsynchronousSocketChannel(group));
        log.note("waits", () -> group.awaitTermination(10, TimeUnit.MILLISECONDS));
        group.shutdownNow();
        log.note("read", () -> get(read));
        log.note("terminated", () -> group.awaitTermination(20, TimeUnit.SECONDS));
        log.note("pool", pool.isShutdown());
        log.note("open", fresh.isOpen());
        log.note("no threads", () -> pair.provider.openAsynchronousChannelGroup(0, Thread::new));
        AsynchronousChannelGroup unused = pair.provider.openAsynchronousChannelGroup(1, Thread::new);
        unused.shutdown();
        log.note("unused", () -> unused.awaitTermination(20, TimeUnit.SECONDS) + " " + unused.isTerminated());
    }

    private static void largeTransfers(Pair pair, Log log) throws Exception {
        byte[] sent = new byte[3_000_000];
        for (int i = 0; i < sent.length; i++) {
            sent[i] = (byte) (i * 31 + i / 1000);
        }
        Future<Boolean> writer = ChannelPrograms.start(() -> {
            ByteBuffer source = ByteBuffer.wrap(sent);
            while (source.hasRemaining()) {
                get(pair.client.write(source));
            }
            pair.client.shutdownOutput();
            return true;
        });
        ByteBuffer target = ByteBuffer.allocate(sent.length + 1);
        while (get(pair.server.read(target)) >= 0) {
            // until the end
        }
        log.note("written", () -> get(writer));
        log.note("received", target.position());
        log.note("equal", target.flip().equals(ByteBuffer.wrap(sent)));
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

    private static List<String> seen(String name, AsynchronousChannelProvider provider) throws Exception {
        Log log = new Log();
        try (Pair pair = new Pair(provider)) {
            Objects.requireNonNull(PROGRAMS.get(name)).run(pair, log);
        }
        return log.seen;
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("programs")
    void programObservesTheSameAsOnThePlatform(String name, String transport) throws Exception {
        AddressRules rules = AddressRules.parse("*=" + transport);
        assertThat(seen(name, new RdmaAsynchronousChannelProvider(rules)))
                .isEqualTo(seen(name, AsynchronousChannelProvider.provider()));
    }
}
