package io.rdma4j.conformance.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.sockets.RdmaSockets;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Blocked calls of RDMA sockets end by close, and in virtual threads by interrupts, as java.net documents. */
@Timeout(60)
class SocketWaitsConformanceTest {
    /** A call that blocks indefinitely. */
    enum Wait {
        READ,
        WRITE,
        ACCEPT,
        CONNECT
    }

    /** A thread that is blocked in such a call, and the outcome of the call. */
    private static final class Waiting implements AutoCloseable {
        private final SocketPair pair = SocketPair.open();
        private final ServerSocket full = SocketPair.listen(TestDevices.freshAddress(), 1);
        private final Socket filler = SocketPair.connect(full);
        private final Socket connecting = RdmaSockets.openSocket(StandardProtocolFamily.INET);
        private final Wait wait;
        final CompletableFuture<Throwable> outcome = new CompletableFuture<>();
        final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        final Thread thread;

        Waiting(Wait wait, boolean virtual) throws IOException, InterruptedException {
            this.wait = wait;
            Runnable run = () -> {
                Throwable end = null;
                try {
                    call();
                } catch (IOException | RuntimeException e) {
                    end = e;
                }
                interrupted.complete(Thread.currentThread().isInterrupted());
                outcome.complete(end);
            };
            thread = virtual
                    ? Thread.ofVirtual().start(run)
                    : Thread.ofPlatform().daemon().start(run);
            BlockedThread.await(thread);
        }

        private void call() throws IOException {
            switch (wait) {
                case READ -> pair.client.getInputStream().read();
                case WRITE -> {
                    byte[] bytes = new byte[100_000];
                    while (!pair.client.isClosed()) {
                        pair.client.getOutputStream().write(bytes);
                    }
                }
                case ACCEPT -> pair.listener.accept();
                case CONNECT -> connecting.connect(full.getLocalSocketAddress());
            }
        }

        void end() throws IOException {
            switch (wait) {
                case READ, WRITE -> pair.client.close();
                case ACCEPT -> pair.listener.close();
                case CONNECT -> connecting.close();
            }
        }

        boolean isClosed() {
            return switch (wait) {
                case READ, WRITE -> pair.client.isClosed();
                case ACCEPT -> pair.listener.isClosed();
                case CONNECT -> connecting.isClosed();
            };
        }

        @Override
        public void close() throws IOException {
            connecting.close();
            filler.close();
            full.close();
            pair.close();
        }
    }

    static Stream<Arguments> waits() {
        return Stream.of(Wait.values()).flatMap(wait -> Stream.of(Arguments.of(wait, false), Arguments.of(wait, true)));
    }

    @ParameterizedTest
    @MethodSource("waits")
    void closeEndsABlockedCall(Wait wait, boolean virtual) throws Exception {
        try (Waiting waiting = new Waiting(wait, virtual)) {
            waiting.end();
            assertThat(waiting.outcome.get(10, TimeUnit.SECONDS))
                    .isInstanceOf(SocketException.class)
                    .hasMessage("Socket closed");
            assertThat(waiting.interrupted.get()).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource("waits")
    void interruptEndsABlockedCallOfAVirtualThreadOnly(Wait wait, boolean virtual) throws Exception {
        try (Waiting waiting = new Waiting(wait, virtual)) {
            waiting.thread.interrupt();
            if (virtual) {
                assertThat(waiting.outcome.get(10, TimeUnit.SECONDS))
                        .isInstanceOf(SocketException.class)
                        .hasMessage("Closed by interrupt");
                assertThat(waiting.isClosed()).isTrue();
            } else {
                assertThat(waiting.thread.join(Duration.ofMillis(300))).isFalse();
                assertThat(waiting.isClosed()).isFalse();
                waiting.end();
                assertThat(waiting.outcome.get(10, TimeUnit.SECONDS)).hasMessage("Socket closed");
            }
            assertThat(waiting.interrupted.get())
                    .as("the interrupt status stays set")
                    .isTrue();
        }
    }

    @Test
    void shutdownOfTheInputEndsABlockedRead() throws Exception {
        try (Waiting waiting = new Waiting(Wait.READ, false)) {
            waiting.pair.client.shutdownInput();
            assertThat(waiting.outcome.get(10, TimeUnit.SECONDS)).isNull();
        }
    }

    @Test
    void blockedWriteEndsWhenThePeerCloses() throws Exception {
        try (Waiting waiting = new Waiting(Wait.WRITE, true)) {
            waiting.pair.server.close();
            assertThat(waiting.outcome.get(10, TimeUnit.SECONDS)).isInstanceOf(SocketException.class);
        }
    }

    @Test
    void interruptedPlatformThreadContinuesToRead() throws Exception {
        try (Waiting waiting = new Waiting(Wait.READ, false)) {
            waiting.thread.interrupt();
            BlockedThread.await(waiting.thread);
            waiting.pair.server.getOutputStream().write(1);
            assertThat(waiting.outcome.get(10, TimeUnit.SECONDS)).isNull();
            assertThat(waiting.interrupted.get()).isTrue();
        }
    }
}
