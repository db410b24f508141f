package io.rdma4j.sockets.nio;

import static java.nio.channels.SelectionKey.OP_READ;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.params.provider.Arguments;

/** Small programs that use channels, and the results they observe, with helpers for such programs. */
public final class ChannelPrograms {
    public static final long PATIENCE_MILLIS = 20_000;

    private ChannelPrograms() {}

    /** The observations of a program, step by step. */
    public static final class Log {
        public final List<String> seen = new ArrayList<>();

        public void note(String what, Object value) {
            seen.add(what + ": " + value);
        }

        public void note(String what, Call call) {
            String result;
            try {
                result = String.valueOf(call.call());
            } catch (Exception thrown) {
                result = thrown.getClass().getSimpleName();
            }
            seen.add(what + ": " + result);
        }

        public void run(String what, Task task) {
            note(what, () -> {
                task.run();
                return "done";
            });
        }
    }

    public interface Call {
        Object call() throws Exception;
    }

    public interface Task {
        void run() throws Exception;
    }

    interface Program {
        void run(SelectorProvider provider, Log log) throws Exception;
    }

    interface PairProgram {
        void run(Loopback pair, Log log) throws Exception;
    }

    /** Programs by name. */
    static final class Programs {
        private final Map<String, Program> all = new LinkedHashMap<>();

        void add(String name, Program program) {
            all.put(name, program);
        }

        /** Adds a program that has two connected channels. */
        void pair(String name, PairProgram program) {
            all.put(name, (provider, log) -> {
                try (Loopback pair = new Loopback(provider)) {
                    program.run(pair, log);
                }
            });
        }

        /** Returns the observations of a program with a provider's channels. */
        List<String> seen(String name, SelectorProvider provider) throws Exception {
            Log log = new Log();
            Objects.requireNonNull(all.get(name)).run(provider, log);
            return log.seen;
        }

        /** Returns every combination of program and transport. */
        List<Arguments> with(List<String> transports) {
            List<Arguments> made = new ArrayList<>();
            for (String name : all.keySet()) {
                for (String transport : transports) {
                    made.add(Arguments.of(name, transport));
                }
            }
            return made;
        }
    }

    static ByteBuffer bytes(int... values) {
        ByteBuffer made = ByteBuffer.allocate(values.length);
        for (int value : values) {
            made.put((byte) value);
        }
        return made.flip();
    }

    static String text(ByteBuffer... buffers) {
        StringBuilder all = new StringBuilder();
        for (ByteBuffer each : buffers) {
            byte[] content = new byte[each.limit()];
            each.get(0, content);
            all.append(each.position()).append(Arrays.toString(content));
        }
        return all.toString();
    }

    public static <T> FutureTask<T> start(java.util.concurrent.Callable<T> call) {
        FutureTask<T> task = new FutureTask<>(call);
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    public static <T> T get(FutureTask<T> task) throws Exception {
        try {
            return task.get(PATIENCE_MILLIS, TimeUnit.MILLISECONDS);
        } catch (java.util.concurrent.ExecutionException failed) {
            throw failed.getCause() instanceof Exception cause ? cause : failed;
        }
    }

    /** Makes a channel non-blocking and waits until it is readable. */
    static void awaitReadable(SocketChannel channel) throws IOException {
        channel.configureBlocking(false);
        try (Selector selector = channel.provider().openSelector()) {
            channel.register(selector, OP_READ);
            assertThat(selector.select(PATIENCE_MILLIS)).isEqualTo(1);
        }
    }

    /** Waits until a thread's call blocks on the channel: it holds the lock of its direction, and makes no progress. */
    static void awaitWaiting(FutureTask<?> task, SocketChannel channel) throws InterruptedException {
        assertThat(channel.isOpen()).isTrue();
        for (int i = 0; i < 20; i++) {
            Thread.sleep(2);
            assertThat(task.isDone()).isFalse();
        }
    }

    /** Waits until a channel is ready for exactly these operations. */
    static void awaitReady(Selector selector, SocketChannel channel, int ops) throws IOException {
        SelectionKey key = Objects.requireNonNull(channel.keyFor(selector));
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(PATIENCE_MILLIS);
        int ready = 0;
        while (ready != ops) {
            selector.selectedKeys().clear();
            selector.select(100);
            ready = selector.selectedKeys().contains(key) ? key.readyOps() : 0;
            assertThat(System.nanoTime())
                    .as("%s is ready for %s", channel, ready)
                    .isLessThan(deadline);
        }
    }
}
