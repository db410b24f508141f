package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.sockets.options.RdmaSocketOptions;
import java.io.IOException;
import java.net.SocketOption;
import java.net.StandardSocketOptions;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** If two threads set options at the same time, each option keeps its value. */
@Timeout(60)
class ConcurrentOptionsTest {
    private static final int ROUNDS = 3_000;

    /** Sets a number. */
    interface Setter {
        void set(SocketOption<Integer> option, int value) throws IOException;
    }

    /** Returns a number. */
    interface Getter {
        int get(SocketOption<Integer> option);
    }

    private static void bothValuesAreKept(Setter setter, Getter getter) throws Exception {
        CyclicBarrier barrier = new CyclicBarrier(2);
        FutureTask<Integer> one = new FutureTask<>(values(barrier, StandardSocketOptions.IP_TOS, setter, getter));
        FutureTask<Integer> other = new FutureTask<>(values(barrier, RdmaSocketOptions.RDMA_INLINE, setter, getter));
        Thread.ofPlatform().daemon().start(one);
        Thread.ofPlatform().daemon().start(other);
        assertThat(one.get(50, TimeUnit.SECONDS) + other.get(50, TimeUnit.SECONDS))
                .as("values that were lost")
                .isZero();
    }

    private static Callable<Integer> values(
            CyclicBarrier barrier, SocketOption<Integer> option, Setter setter, Getter getter) {
        return () -> {
            int lost = 0;
            for (int i = 0; i < ROUNDS; i++) {
                barrier.await();
                setter.set(option, i & 0xff);
                barrier.await();
                lost += getter.get(option) == (i & 0xff) ? 0 : 1;
            }
            return lost;
        };
    }

    @Test
    void optionsOfStreams() throws Exception {
        StreamOptions options =
                new StreamOptions(new StreamEndpoint(ConnectionService.ofProcess(), StreamSettings.DEFAULT));
        bothValuesAreKept(options::set, options::get);
    }

    @Test
    void optionsOfDatagramSockets() throws Exception {
        DatagramEndpointOptions options = new DatagramEndpointOptions(
                new DatagramEndpoint(ConnectionService.ofProcess(), DatagramSettings.DEFAULT));
        bothValuesAreKept(options::set, options::get);
    }
}
