package io.rdma4j.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static java.nio.channels.SelectionKey.OP_WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.sockets.RdmaSelectorProvider;
import io.rdma4j.sockets.options.AddressRules;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteBuffer;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.Pipe;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of the end, the results and the cost of selections. */
@Timeout(120)
class SelectionTest {
    private static final long PATIENCE_MILLIS = 20_000;

    private static SelectorProvider provider(String transport) {
        return new RdmaSelectorProvider(AddressRules.parse("*=" + transport));
    }

    private static ByteBuffer oneByte() {
        return ByteBuffer.allocate(1);
    }

    /** A selection in progress in another thread. */
    private static final class Selecting {
        private final FutureTask<Integer> task;
        private final Thread thread;

        Selecting(Selector selector) {
            task = new FutureTask<>(selector::select);
            thread = Thread.ofPlatform().daemon().start(task);
        }

        /** Waits until the thread has polled and blocks. */
        Selecting awaitWaiting() throws InterruptedException {
            while (Arrays.stream(thread.getStackTrace())
                    .noneMatch(frame -> frame.getClassName().endsWith(".Waiter")
                                    && frame.getMethodName().equals("await")
                            || frame.getClassName().endsWith(".PlatformChannels")
                                    && frame.getMethodName().equals("select"))) {
                assertThat(thread.isAlive()).as("the selection continues").isTrue();
                Thread.sleep(1);
            }
            return this;
        }

        int count() throws Exception {
            return task.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void readyKeyLeftInTheSelectedSetEndsTheNextSelection(String transport) throws Exception {
        try (Loopback pair = new Loopback(provider(transport));
                Selector selector = pair.selector(0, OP_READ)) {
            pair.client.write(oneByte());
            assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
            assertThat(new Selecting(selector).count())
                    .as("keys whose ready set changed")
                    .isZero();
            assertThat(selector.selectedKeys()).hasSize(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"alone", "beside RDMA"})
    void dataOfAnOrdinaryChannelWithCancelledKeyEndsTheSelection(String where) throws Exception {
        SelectorProvider provider = provider("rdma");
        Pipe pipe = provider.openPipe();
        try (Loopback pair = new Loopback(provider);
                Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink();
                Selector selector = provider.openSelector()) {
            if (!where.equals("alone")) {
                pair.server.configureBlocking(false).register(selector, OP_READ);
            }
            source.configureBlocking(false);
            SelectionKey key = source.register(selector, OP_READ);
            Selecting selecting = new Selecting(selector).awaitWaiting();
            key.cancel();
            sink.write(oneByte());
            assertThat(selecting.count()).isZero();
            assertThat(selector.keys()).doesNotContain(key);
        }
    }

    @Test
    void failingKeyIsTreatedAsReadyAndDoesNotHideOthers() throws Exception {
        SelectorProvider provider = provider("rdma");
        try (Loopback pair = new Loopback(provider);
                Selector selector = provider.openSelector();
                FakeChannel broken = new FakeChannel(provider)) {
            SelectionKey before = pair.server.configureBlocking(false).register(selector, OP_READ);
            SelectionKey failed = broken.configureBlocking(false).register(selector, OP_READ);
            SelectionKey after = pair.client.configureBlocking(false).register(selector, OP_WRITE);
            pair.client.write(oneByte());
            broken.failing(new IllegalStateException("poll failed"));
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
            while (selector.selectedKeys().size() < 3 && System.nanoTime() < deadline) {
                selector.selectNow();
            }
            assertThat(selector.selectedKeys()).containsExactlyInAnyOrder(before, failed, after);
            broken.failing(null);
            selector.selectedKeys().clear();
            assertThat(selector.selectNow()).isEqualTo(2);
        }
    }

    @Test
    void failingPlatformChannelDoesNotHideOtherKeys() throws Exception {
        SelectorProvider provider = provider("rdma");
        Pipe pipe = provider.openPipe();
        try (Pipe.SourceChannel blocking = pipe.source();
                Pipe.SinkChannel sink = pipe.sink();
                Selector selector = provider.openSelector();
                FakeChannel before = new FakeChannel(provider);
                FakeChannel broken = new FakeChannel(provider)) {
            SelectionKey other = before.configureBlocking(false).register(selector, OP_READ);
            SelectionKey failed = broken.configureBlocking(false).register(selector, OP_READ);
            assertThat(selector.selectNow()).isZero();
            before.ready(OP_READ);
            broken.inside(blocking);
            assertThat(selector.selectNow()).isEqualTo(2);
            assertThat(selector.selectedKeys()).containsExactlyInAnyOrder(other, failed);
            blocking.configureBlocking(false);
            selector.selectedKeys().clear();
            assertThat(selector.selectNow()).isEqualTo(1);
            selector.selectedKeys().clear();
            sink.write(oneByte());
            assertThat(selector.selectNow()).as("now watched").isEqualTo(2);
        }
    }

    @Test
    void selectNowReportsOrdinaryChannelsWhileTheyAreWatched() throws Exception {
        SelectorProvider provider = provider("rdma");
        Pipe pipe = provider.openPipe();
        try (Loopback pair = new Loopback(provider);
                Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink();
                Selector selector = pair.selector(0, OP_READ)) {
            source.configureBlocking(false).register(selector, OP_READ);
            for (int round = 0; round < 300; round++) {
                assertThat(selector.select(1)).isZero();
                sink.write(oneByte());
                assertThat(selector.selectNow()).as("round %d", round).isEqualTo(1);
                selector.selectedKeys().clear();
                source.read(oneByte());
            }
        }
    }

    @Test
    void channelClosedByAnotherThreadIsNotSelected() throws Exception {
        try (Loopback pair = new Loopback(provider("rdma"));
                Selector selector = pair.selector(OP_READ, 0)) {
            Selecting selecting = new Selecting(selector).awaitWaiting();
            pair.client.close();
            selector.wakeup();
            assertThat(selecting.count()).isZero();
            assertThat(selector.selectedKeys()).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void channelIsWritableAfterFinishConnectWithoutSelectingConnect(String transport) throws Exception {
        SelectorProvider provider = provider(transport);
        try (Loopback others = new Loopback(provider);
                SocketChannel client = provider.openSocketChannel();
                Selector selector = provider.openSelector()) {
            client.configureBlocking(false).register(selector, OP_WRITE);
            client.connect(Objects.requireNonNull(others.listener.getLocalAddress()));
            try (SocketChannel accepted = others.listener.accept()) {
                assertThat(selector.selectNow()).as("not writable yet").isZero();
                long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
                while (!client.finishConnect()) {
                    selector.selectNow();
                    assertThat(System.nanoTime()).isLessThan(deadline);
                }
                assertThat(accepted.isOpen()).isTrue();
                assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
            }
        }
    }

    @Test
    void selectionPollsOnlyChangedChannels() throws Exception {
        SelectorProvider provider = provider("rdma");
        int count = 10_000;
        List<FakeChannel> all = new ArrayList<>();
        try (Selector selector = provider.openSelector()) {
            for (int i = 0; i < count; i++) {
                FakeChannel each = new FakeChannel(provider);
                each.configureBlocking(false).register(selector, OP_READ);
                all.add(each);
            }
            assertThat(selector.selectNow()).isZero();
            int before = polls(all);
            assertThat(selector.selectNow()).isZero();
            assertThat(polls(all)).isEqualTo(before);
            for (int i = 0; i < 100; i++) {
                FakeChannel one = all.get(i * 97);
                one.ready(OP_READ);
                assertThat(selector.selectNow()).isEqualTo(1);
                selector.selectedKeys().clear();
                one.ready(0);
                assertThat(selector.selectNow()).isZero();
            }
            assertThat(polls(all) - before).isLessThanOrEqualTo(100 * 4);
        }
    }

    /**
     * The platform allows this immediately. In this library, the hidden key at the platform's selector is valid until
     * the next selection.
     */
    @Test
    void ordinaryChannelWithCancelledKeyCanBeMadeBlockingAfterTheNextSelection() throws Exception {
        SelectorProvider provider = provider("rdma");
        Pipe pipe = provider.openPipe();
        try (Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink();
                Selector selector = provider.openSelector()) {
            source.configureBlocking(false).register(selector, OP_READ).cancel();
            assertThatThrownBy(() -> source.configureBlocking(true)).isInstanceOf(IllegalBlockingModeException.class);
            assertThat(selector.selectNow()).isZero();
            source.configureBlocking(true);
            sink.write(oneByte());
            assertThat(source.read(oneByte())).isEqualTo(1);
        }
    }

    @Test
    void registeringAndCancellingPollNoOtherChannel() throws Exception {
        SelectorProvider provider = provider("rdma");
        int count = 10_000;
        List<FakeChannel> all = new ArrayList<>();
        try (Selector selector = provider.openSelector()) {
            for (int i = 0; i < count; i++) {
                FakeChannel each = new FakeChannel(provider);
                each.configureBlocking(false).register(selector, OP_READ);
                all.add(each);
                assertThat(selector.selectNow()).isZero();
            }
            assertThat(polls(all)).as("one without result, one to wait").isLessThanOrEqualTo(2 * count);
            assertThat(selector.keys()).hasSize(count);
            int before = polls(all);
            for (int i = 0; i < count; i += 2) {
                Objects.requireNonNull(all.get(i).keyFor(selector)).cancel();
                all.get(i).ready(OP_READ);
                assertThat(selector.selectNow()).isZero();
            }
            assertThat(polls(all)).as("even of channels that are ready").isEqualTo(before);
            assertThat(selector.keys()).hasSize(count / 2);
            all.get(1).ready(OP_READ);
            assertThat(selector.selectNow()).isEqualTo(1);
        }
    }

    /** Processor time counts the work of the threads, independent of the load of the machine. */
    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp", "either"})
    void idleSelectionUsesLittleProcessorTime(String transport) throws Exception {
        SelectorProvider provider = provider(transport);
        Pipe pipe = provider.openPipe();
        try (Loopback pair = new Loopback(provider);
                Pipe.SourceChannel source = pipe.source();
                Pipe.SinkChannel sink = pipe.sink();
                Selector selector = pair.selector(OP_READ, OP_READ)) {
            assertThat(sink.isOpen()).isTrue();
            pair.listener.configureBlocking(false).register(selector, SelectionKey.OP_ACCEPT);
            source.configureBlocking(false).register(selector, OP_READ);
            selector.select(100); // the first selection compiles code and starts threads
            long before = processorNanos();
            assertThat(selector.select(1_000)).isZero();
            assertThat(processorNanos() - before).isLessThan(TimeUnit.MILLISECONDS.toNanos(300));
        }
    }

    /** Returns the processor time of this thread and of the watcher of ordinary channels. */
    private static long processorNanos() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long all = threads.getCurrentThreadCpuTime();
        for (Thread each : Thread.getAllStackTraces().keySet()) {
            all += each.getName().equals("rdma4j-platform-channels")
                    ? Math.max(0, threads.getThreadCpuTime(each.threadId()))
                    : 0;
        }
        return all;
    }

    private static int polls(List<FakeChannel> all) {
        return all.stream().mapToInt(FakeChannel::polls).sum();
    }
}
