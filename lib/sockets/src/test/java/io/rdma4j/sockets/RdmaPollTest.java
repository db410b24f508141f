package io.rdma4j.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.rdma4j.fixture.BlockedThread;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Pipe;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.FutureTask;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of polling many sockets at once. */
@Timeout(30)
class RdmaPollTest {
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration MOMENT = Duration.ofMillis(30);

    private final RdmaPoll poll = RdmaPoll.open();
    private final RdmaStreamSocket listener = RdmaStreamSocket.open();
    private final RdmaStreamSocket client = RdmaStreamSocket.open();
    private RdmaStreamSocket server = client;

    @BeforeEach
    void connect() throws IOException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        listener.bind(new InetSocketAddress(
                InetAddress.getByAddress(
                        new byte[] {127, 9, (byte) random.nextInt(256), (byte) random.nextInt(1, 255)}),
                0));
        listener.listen(5);
        client.connect(Objects.requireNonNull(listener.localAddress()));
        server = Objects.requireNonNull(listener.accept());
    }

    @AfterEach
    void close() throws IOException {
        poll.close();
        client.close();
        server.close();
        listener.close();
    }

    private static ByteBuffer oneByte() {
        return ByteBuffer.allocate(1);
    }

    /** Acts in another thread when this one blocks. */
    private static void later(Runnable action) {
        Thread waiter = Thread.currentThread();
        Thread.ofVirtual().start(() -> {
            try {
                BlockedThread.await(waiter);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            action.run();
        });
    }

    private interface Action {
        void run() throws IOException;
    }

    private static Runnable quietly(Action action) {
        return () -> {
            try {
                action.run();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }

    @Test
    void readinessIsLevelTriggered() throws IOException {
        RdmaPoll.Entry in = poll.add(server, PollEvents.IN);
        RdmaPoll.Entry out = poll.add(client, PollEvents.OUT);
        assertThat(poll.await(Duration.ZERO)).isEqualTo(1);
        assertThat(in.ready()).isZero();
        assertThat(out.ready()).isEqualTo(PollEvents.OUT);
        out.events(0);
        assertThat(poll.await(MOMENT)).isZero();
        later(quietly(() -> client.send(oneByte())));
        assertThat(poll.await(null)).isEqualTo(1);
        assertThat(in.ready()).isEqualTo(PollEvents.IN);
        assertThat(poll.await(PATIENCE)).isEqualTo(1);
        server.receive(oneByte());
        assertThat(poll.await(Duration.ZERO)).isZero();
        assertThat(poll.entries()).containsExactly(in, out);
    }

    @Test
    void connectionsAndTheirEndsAreReported() throws IOException {
        RdmaPoll.Entry listening = poll.add(listener, PollEvents.IN);
        RdmaPoll.Entry connected = poll.add(server, 0);
        later(quietly(client::close));
        assertThat(poll.await(PATIENCE)).isEqualTo(1);
        assertThat(connected.ready()).isEqualTo(PollEvents.HANG_UP);
        connected.remove();
        try (RdmaStreamSocket second = RdmaStreamSocket.open()) {
            second.configureBlocking(false);
            RdmaPoll.Entry connecting = poll.add(second, PollEvents.OUT);
            second.connect(Objects.requireNonNull(listener.localAddress()));
            while (connecting.ready() == 0 || listening.ready() == 0) {
                assertThat(poll.await(PATIENCE)).isPositive();
            }
            assertThat(second.finishConnect()).isTrue();
            assertThat(connecting.socket()).isSameAs(second);
            connecting.remove();
        }
    }

    @Test
    void ordinaryChannelsAndRdmaSocketsArePolledTogether() throws IOException {
        Pipe pipe = Pipe.open();
        Pipe.SourceChannel source = pipe.source();
        source.configureBlocking(false);
        try (Pipe.SinkChannel sink = pipe.sink()) {
            RdmaPoll.Entry tcp = poll.add(source, PollEvents.IN);
            RdmaPoll.Entry rdma = poll.add(server, PollEvents.IN);
            assertThat(poll.await(MOMENT)).isZero();
            later(quietly(() -> sink.write(oneByte())));
            assertThat(poll.await(null)).isEqualTo(1);
            assertThat(tcp.ready()).isEqualTo(PollEvents.IN);
            source.read(oneByte());
            for (int i = 0; i < 20; i++) {
                later(quietly(() -> client.send(oneByte())));
                assertThat(poll.await(PATIENCE)).isEqualTo(1);
                assertThat(rdma.ready()).isEqualTo(PollEvents.IN);
                assertThat(tcp.ready()).isZero();
                server.receive(oneByte());
            }
            source.close();
            assertThat(poll.await(PATIENCE)).isEqualTo(1);
            assertThat(tcp.ready()).isEqualTo(PollEvents.HANG_UP);
        }
    }

    @Test
    void removedOrdinaryChannelCanBeAddedAgain() throws IOException {
        Pipe pipe = Pipe.open();
        try (Pipe.SinkChannel sink = pipe.sink();
                Pipe.SourceChannel source = pipe.source()) {
            source.configureBlocking(false);
            for (int round = 0; round < 3; round++) {
                RdmaPoll.Entry entry = poll.add(source, PollEvents.IN);
                assertThat(poll.await(Duration.ZERO)).isZero();
                sink.write(oneByte());
                assertThat(poll.await(PATIENCE)).isEqualTo(1);
                assertThat(entry.ready()).isEqualTo(PollEvents.IN);
                source.read(oneByte());
                entry.remove();
            }
        }
    }

    @Test
    void removedOrdinaryChannelCanBeMadeBlocking() throws IOException {
        Pipe pipe = Pipe.open();
        try (Pipe.SinkChannel sink = pipe.sink();
                Pipe.SourceChannel source = pipe.source()) {
            source.configureBlocking(false);
            poll.add(source, PollEvents.IN).remove();
            source.configureBlocking(true);
            sink.write(oneByte());
            assertThat(source.read(oneByte())).isEqualTo(1);
        }
    }

    @Test
    void interruptEndsTheWait() throws Exception {
        poll.add(server, PollEvents.IN);
        FutureTask<Boolean> task = new FutureTask<>(() -> {
            assertThatExceptionOfType(InterruptedIOException.class).isThrownBy(() -> poll.await(null));
            return Thread.currentThread().isInterrupted();
        });
        Thread thread = Thread.ofPlatform().start(task);
        BlockedThread.await(thread);
        thread.interrupt();
        assertThat(task.get(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void closedPollRejectsSockets() throws IOException {
        poll.close();
        poll.close();
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> poll.add(server, PollEvents.IN));
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> poll.await(null));
        assertThat(server.isClosed()).isFalse();
    }
}
