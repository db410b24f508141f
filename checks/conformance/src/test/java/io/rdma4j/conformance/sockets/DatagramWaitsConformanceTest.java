package io.rdma4j.conformance.sockets;

import static io.rdma4j.conformance.sockets.DatagramChannels.datagram;
import static io.rdma4j.conformance.sockets.DatagramChannels.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.conformance.sockets.DatagramChannels.Kind;
import io.rdma4j.fixture.BlockedThread;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Blocked datagram calls end as java.nio.channels documents, over RDMA and over UDP. */
@Timeout(60)
class DatagramWaitsConformanceTest {
    private static final int MORE_THAN_CARRIERS = 100;

    /** A call that blocks indefinitely. */
    enum Wait {
        RECEIVE,
        READ,
        SCATTER
    }

    static Stream<Arguments> waits() {
        return Stream.of(Kind.values())
                .flatMap(kind -> Stream.of(Wait.values())
                        .flatMap(wait -> Stream.of(Arguments.of(kind, wait, false), Arguments.of(kind, wait, true))));
    }

    private record End(Throwable cause, boolean interrupted) {}

    private record Waiting(Thread thread, CompletableFuture<End> end) {}

    private static void call(DatagramChannel channel, Wait wait) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(10);
        switch (wait) {
            case RECEIVE -> channel.receive(target);
            case READ -> channel.read(target);
            case SCATTER -> channel.read(new ByteBuffer[] {target});
        }
    }

    private static Waiting start(DatagramChannel channel, Wait wait, boolean virtual) throws InterruptedException {
        CompletableFuture<End> end = new CompletableFuture<>();
        Thread.Builder builder =
                virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
        Thread thread = builder.start(() -> {
            try {
                call(channel, wait);
                end.completeExceptionally(new AssertionError("it did not wait"));
            } catch (IOException | RuntimeException e) {
                end.complete(new End(e, Thread.currentThread().isInterrupted()));
            }
        });
        BlockedThread.await(thread);
        assertThat(end).isNotDone();
        return new Waiting(thread, end);
    }

    @ParameterizedTest
    @MethodSource("waits")
    void closeEndsABlockedCall(Kind kind, Wait wait, boolean virtual) throws Exception {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel own = channels.connected()[0];
            Waiting waiting = start(own, wait, virtual);
            own.close();
            assertThat(waiting.end().get(10, TimeUnit.SECONDS).cause())
                    .isInstanceOf(AsynchronousCloseException.class)
                    .isNotInstanceOf(ClosedByInterruptException.class);
        }
    }

    @ParameterizedTest
    @MethodSource("waits")
    void interruptEndsABlockedCallAndClosesTheChannel(Kind kind, Wait wait, boolean virtual) throws Exception {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel own = channels.connected()[0];
            Waiting waiting = start(own, wait, virtual);
            waiting.thread().interrupt();
            assertThat(waiting.end().get(10, TimeUnit.SECONDS).cause()).isInstanceOf(ClosedByInterruptException.class);
            assertThat(waiting.end().get().interrupted())
                    .as("the interrupt status stays set")
                    .isTrue();
            assertThat(own.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @MethodSource("waits")
    void datagramEndsABlockedCall(Kind kind, Wait wait, boolean virtual) throws Exception {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel[] pair = channels.connected();
            for (int i = 0; i < 3; i++) {
                CompletableFuture<Void> end = new CompletableFuture<>();
                Thread.Builder builder =
                        virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
                Thread thread = builder.start(() -> {
                    try {
                        call(pair[0], wait);
                        end.complete(null);
                    } catch (IOException | RuntimeException e) {
                        end.completeExceptionally(e);
                    }
                });
                BlockedThread.await(thread);
                assertThat(end).isNotDone();
                pair[1].write(datagram(i + 1));
                end.get(10, TimeUnit.SECONDS);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void callOfAnInterruptedThreadClosesTheChannelAtOnce(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel[] pair = channels.connected();
            Thread.currentThread().interrupt();
            try {
                assertThatThrownBy(() -> pair[0].read(ByteBuffer.allocate(1)))
                        .isInstanceOf(ClosedByInterruptException.class);
                assertThatThrownBy(() -> pair[1].write(datagram(1))).isInstanceOf(ClosedByInterruptException.class);
            } finally {
                assertThat(Thread.interrupted()).isTrue();
            }
            assertThat(pair[0].isOpen()).isFalse();
            assertThat(pair[1].isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void nonBlockingCallsIgnoreInterrupts(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel[] pair = channels.connected();
            pair[0].configureBlocking(false);
            Thread.currentThread().interrupt();
            try {
                assertThat(pair[0].write(datagram(1))).isEqualTo(1);
                assertThat(pair[0].read(ByteBuffer.allocate(1))).isZero();
            } finally {
                assertThat(Thread.interrupted()).isTrue();
            }
            assertThat(pair[0].isOpen()).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void blockedReceiverDoesNotBlockASender(Kind kind) throws Exception {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel[] pair = channels.connected();
            Waiting waiting = start(pair[0], Wait.READ, false);
            pair[0].write(datagram(7));
            assertThat(pair[1].receive(ByteBuffer.allocate(10))).isEqualTo(pair[0].getLocalAddress());
            pair[0].close();
            waiting.end().get(10, TimeUnit.SECONDS);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void blockedVirtualThreadsReleaseTheirCarriers(Kind kind) throws Exception {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            List<DatagramChannel> waiting = new ArrayList<>();
            List<Thread> receivers = new ArrayList<>();
            CountDownLatch received = new CountDownLatch(MORE_THAN_CARRIERS);
            for (int i = 0; i < MORE_THAN_CARRIERS; i++) {
                DatagramChannel own = channels.bound();
                waiting.add(own);
                receivers.add(Thread.ofVirtual().start(() -> {
                    try {
                        own.receive(ByteBuffer.allocate(10));
                        received.countDown();
                    } catch (IOException e) {
                        return; // the latch then stays above zero and the test fails
                    }
                }));
            }
            BlockedThread.await(receivers.toArray(Thread[]::new));
            Thread other = Thread.ofVirtual().start(() -> {});
            assertThat(other.join(Duration.ofSeconds(10)))
                    .as("a carrier is free")
                    .isTrue();
            DatagramChannel sender = channels.bound();
            for (DatagramChannel each : waiting) {
                send(sender, datagram(1), each);
            }
            assertThat(received.await(20, TimeUnit.SECONDS)).isTrue();
        }
    }
}
