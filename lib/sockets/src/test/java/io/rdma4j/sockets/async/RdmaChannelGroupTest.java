package io.rdma4j.sockets.async;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.RdmaAsynchronousChannelProvider;
import io.rdma4j.sockets.nio.Loopback;
import io.rdma4j.sockets.options.AddressRules;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousChannelGroup;
import java.nio.channels.AsynchronousServerSocketChannel;
import java.nio.channels.AsynchronousSocketChannel;
import java.nio.channels.CompletionHandler;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** If the pool of a group temporarily has no memory or threads, the group calls all handlers later. */
@Timeout(60)
class RdmaChannelGroupTest {
    private static final int REFUSALS = 3;

    /** A pool that cannot create a thread for the first handlers of the selecting thread. */
    private static final class Exhausted extends ThreadPoolExecutor {
        final AtomicInteger refusals = new AtomicInteger();

        Exhausted() {
            super(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
        }

        @Override
        public void execute(Runnable task) {
            if (Thread.currentThread().getName().equals("rdma4j-asynchronous-channels")
                    && refusals.incrementAndGet() <= REFUSALS) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            super.execute(task);
        }
    }

    private static final class Result<T> extends CompletableFuture<T> implements CompletionHandler<T, Void> {
        @Override
        public void completed(T result, Void none) {
            complete(result);
        }

        @Override
        public void failed(Throwable why, Void none) {
            completeExceptionally(why);
        }
    }

    private static <T> T get(Future<T> result) throws Exception {
        return result.get(20, TimeUnit.SECONDS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rdma", "tcp"})
    void handlersAreCalledLaterIfThePoolHasNoMemory(String transport) throws Exception {
        RdmaAsynchronousChannelProvider provider =
                new RdmaAsynchronousChannelProvider(AddressRules.parse("*=" + transport));
        Exhausted pool = new Exhausted();
        AsynchronousChannelGroup group = provider.openAsynchronousChannelGroup(pool, 1);
        try (AsynchronousServerSocketChannel listener = provider.openAsynchronousServerSocketChannel(group)) {
            listener.bind(new InetSocketAddress(Loopback.address(), 0));
            for (int i = 0; i < 2; i++) {
                Result<AsynchronousSocketChannel> accepted = new Result<>();
                listener.accept(null, accepted);
                try (AsynchronousSocketChannel client = provider.openAsynchronousSocketChannel(group)) {
                    get(client.connect(listener.getLocalAddress()));
                    try (AsynchronousSocketChannel server = get(accepted)) {
                        Result<Integer> read = new Result<>();
                        server.read(ByteBuffer.allocate(1), null, read);
                        assertThat(get(client.write(ByteBuffer.wrap(new byte[1]))))
                                .isEqualTo(1);
                        assertThat(get(read)).isEqualTo(1);
                    }
                }
            }
            assertThat(pool.refusals).hasValueGreaterThan(REFUSALS);
        } finally {
            group.shutdownNow();
        }
        assertThat(group.awaitTermination(20, TimeUnit.SECONDS)).isTrue();
    }
}
