package io.rdma4j.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.RdmaSockets;
import io.rdma4j.sockets.options.AddressRules;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.Channel;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every blocking call of channels, their sockets and selectors ends like on the platform if it is closed by another
 * thread or interrupted.
 */
@Timeout(120)
class BlockedCallsTest {
    private static final long PATIENCE_SECONDS = 20;

    private interface Call {
        Object call() throws Exception;
    }

    /** Blocking calls of a thread, each with the channel to close to end it. */
    private static final class Scene implements AutoCloseable {
        private final Map<String, Call> calls = new LinkedHashMap<>();
        private final Map<String, Channel> channels = new LinkedHashMap<>();
        private final Deque<Closeable> open = new ArrayDeque<>();
        private final SelectorProvider provider;

        Scene(SelectorProvider provider, boolean overRdma) throws Exception {
            this.provider = provider;
            add("read", pair().client, channel -> channel.read(ByteBuffer.allocate(1)));
            add("scattering read", pair().client, channel -> channel.read(new ByteBuffer[] {ByteBuffer.allocate(1)}));
            add("write", pair().client, BlockedCallsTest::fill);
            add("gathering write", pair().client, channel -> {
                while (true) {
                    channel.write(new ByteBuffer[] {ByteBuffer.allocate(10), ByteBuffer.allocate(100_000)});
                }
            });
            add(
                    "socket.read",
                    pair().client,
                    channel -> channel.socket().getInputStream().read());
            add("socket.read with time-out", pair().client, channel -> {
                channel.socket().setSoTimeout(100_000);
                return channel.socket().getInputStream().read();
            });
            add("socket.write", pair().client, channel -> {
                OutputStream out = channel.socket().getOutputStream();
                while (true) {
                    out.write(new byte[100_000]);
                }
            });
            add("accept", pair().listener, ServerSocketChannel::accept);
            add("socket.accept", pair().listener, channel -> channel.socket().accept());
            add("socket.accept with time-out", pair().listener, channel -> {
                channel.socket().setSoTimeout(100_000);
                return channel.socket().accept();
            });
            add("receive", datagrams(overRdma), channel -> channel.receive(ByteBuffer.allocate(1)));
            add("datagram read", connected(datagrams(overRdma)), channel -> channel.read(ByteBuffer.allocate(1)));
            addSelectors();
        }

        private Loopback pair() throws IOException {
            Loopback made = new Loopback(provider);
            open.push(made);
            return made;
        }

        private DatagramChannel datagrams(boolean overRdma) throws IOException {
            DatagramChannel made = overRdma
                    ? RdmaSockets.openDatagramChannel(StandardProtocolFamily.INET)
                    : provider.openDatagramChannel(StandardProtocolFamily.INET);
            open.push(made);
            return made.bind(new InetSocketAddress(Loopback.address(), 0));
        }

        private static DatagramChannel connected(DatagramChannel channel) throws IOException {
            return channel.connect(Objects.requireNonNull(channel.getLocalAddress()));
        }

        private void addSelectors() throws IOException {
            Loopback pair = pair();
            Selector selector = pair.selector(SelectionKey.OP_READ, SelectionKey.OP_READ);
            add("select", asChannel(selector), channel -> selector.select());
            Selector timed = provider.openSelector();
            add("select with time-out", asChannel(timed), channel -> timed.select(100_000));
            Selector acting = provider.openSelector();
            add("select with action", asChannel(acting), channel -> acting.select(key -> {}));
        }

        private Channel asChannel(Selector selector) {
            open.push(selector);
            return new Channel() {
                @Override
                public boolean isOpen() {
                    return selector.isOpen();
                }

                @Override
                public void close() throws IOException {
                    selector.close();
                }
            };
        }

        private <C extends Channel> void add(String name, C channel, CallOf<C> call) {
            calls.put(name, () -> call.call(channel));
            channels.put(name, channel);
        }

        @Override
        public void close() throws IOException {
            while (!open.isEmpty()) {
                open.pop().close();
            }
        }
    }

    private interface CallOf<C> {
        Object call(C channel) throws Exception;
    }

    private static Object fill(SocketChannel channel) throws IOException {
        while (true) {
            channel.write(ByteBuffer.allocate(100_000));
        }
    }

    /**
     * Returns the outcome of a call: its exception or result, the thread's interrupt status, and whether the channel is
     * open.
     */
    private static String outcome(Scene scene, String name, String means, boolean virtual) throws Exception {
        Call call = Objects.requireNonNull(scene.calls.get(name));
        Channel channel = Objects.requireNonNull(scene.channels.get(name));
        FutureTask<String> task = new FutureTask<>(() -> {
            String result;
            try {
                result = String.valueOf(call.call());
            } catch (Exception thrown) {
                // A partial write returns, and the next one then finds the channel closed.
                boolean isNext = name.contains("write") && thrown instanceof AsynchronousCloseException;
                result = isNext && !(thrown instanceof ClosedByInterruptException)
                        ? "ClosedChannelException"
                        : thrown.getClass().getSimpleName();
            }
            return result + (Thread.currentThread().isInterrupted() ? ", interrupted" : "");
        });
        Thread thread = (virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon()).start(task);
        BlockedThread.await(thread);
        if (means.equals("close")) {
            channel.close();
        } else {
            thread.interrupt();
        }
        return name + ": " + task.get(PATIENCE_SECONDS, TimeUnit.SECONDS) + (channel.isOpen() ? ", open" : ", closed");
    }

    @ParameterizedTest
    @CsvSource({
        "rdma, close, false",
        "rdma, interrupt, false",
        "rdma, close, true",
        "rdma, interrupt, true",
        "either, close, false",
        "either, interrupt, false"
    })
    void blockedCallEndsAsOnThePlatform(String transport, String means, boolean virtual) throws Exception {
        List<String> expected = new ArrayList<>();
        List<String> found = new ArrayList<>();
        try (Scene platform = new Scene(Platform.provider(), false);
                Scene actual = new Scene(new RdmaSelectorProvider(AddressRules.parse("*=" + transport)), true)) {
            for (String name : platform.calls.keySet()) {
                expected.add(outcome(platform, name, means, virtual));
                found.add(outcome(actual, name, means, virtual));
            }
        }
        assertThat(found).isEqualTo(expected);
    }
}
