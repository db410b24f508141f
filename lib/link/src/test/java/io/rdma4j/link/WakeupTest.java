package io.rdma4j.link;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.link.system.LinkSets;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(30)
class WakeupTest {
    private static final long MILLI = 1_000_000;

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void awaitWithTimeoutZeroDoesNotBlockAndTimedAwaitEnds(String kind) throws IOException {
        try (LinkSet set = LinkSets.open(kind)) {
            set.await(0);
            long start = System.nanoTime();
            set.await(20 * MILLI);
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(18 * MILLI);
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void earlierWakeupEndsOnlyTheNextAwait(String kind) throws IOException {
        try (LinkSet set = LinkSets.open(kind)) {
            set.wakeup();
            set.wakeup();
            set.await(Long.MAX_VALUE);
            long start = System.nanoTime();
            set.await(20 * MILLI);
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(18 * MILLI);
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void noWakeupIsLostInAPingPong(String kind) throws Exception {
        AtomicInteger turn = new AtomicInteger();
        int rounds = 20_000;
        try (LinkSet left = LinkSets.open(kind);
                LinkSet right = LinkSets.open(kind)) {
            CompletableFuture<Void> other = CompletableFuture.runAsync(() -> play(turn, 1, rounds, right, left));
            play(turn, 0, rounds, left, right);
            other.get();
        }
        assertThat(turn.get()).isEqualTo(rounds);
    }

    /** Waits indefinitely for each turn: a lost wakeup hangs the test. */
    private static void play(AtomicInteger turn, int side, int rounds, LinkSet own, LinkSet peer) {
        for (int current = turn.get(); current < rounds; current = turn.get()) {
            if (current % 2 == side) {
                turn.setPlain(current + 1);
                peer.wakeup();
            } else {
                own.await(Long.MAX_VALUE);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void frameEndsAnAwaitThatStartedBeforeTheLinkWasOpened(String kind) throws Exception {
        InetAddress address = InetAddress.ofLiteral("127.0.0.1");
        SendBurst burst = new SendBurst(Arena.ofAuto(), SendBurst.MAX_FRAME_BYTES);
        try (LinkSet set = LinkSets.open(kind);
                LinkSet sender = LinkSets.open(kind)) {
            CompletableFuture<Link> opened = new CompletableFuture<>();
            CountDownLatch polled = new CountDownLatch(1);
            FutureTask<Integer> waiter = new FutureTask<>(() -> {
                ReceiveBurst received = new ReceiveBurst(1);
                while (received.count() == 0) {
                    set.await(Long.MAX_VALUE);
                    if (opened.isDone()) {
                        opened.join().poll(received);
                        polled.countDown();
                    }
                }
                return received.count();
            });
            Thread thread = Thread.ofPlatform().daemon().start(waiter);
            WaitingThread.await(thread);
            Link receiver = set.openUdp(address, 0);
            opened.complete(receiver);
            set.wakeup();
            polled.await();
            WaitingThread.await(thread);
            Frames.send(sender.openUdp(address, 0), burst, receiver.localAddress(), 20, 1);
            assertThat(waiter.get()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void setInterruptStatusDoesNotMakeAwaitSpin(String kind) throws IOException {
        try (LinkSet set = LinkSets.open(kind)) {
            Thread.currentThread().interrupt();
            long start = System.nanoTime();
            set.await(20 * MILLI);
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(18 * MILLI);
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @ParameterizedTest
    @MethodSource("io.rdma4j.link.LinkKinds#all")
    void linksAndChannelsOpenAndCloseWhileAnotherThreadWaits(String kind, @TempDir Path folder) throws Exception {
        InetAddress address = InetAddress.ofLiteral("127.0.0.1");
        SendBurst burst = new SendBurst(Arena.ofAuto(), SendBurst.MAX_FRAME_BYTES);
        AtomicBoolean done = new AtomicBoolean();
        try (LinkSet set = LinkSets.open(kind)) {
            CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> {
                while (!done.get()) {
                    set.await(Long.MAX_VALUE);
                }
            });
            ReceiveBurst received = new ReceiveBurst(1);
            ByteBuffer message = ByteBuffer.allocate(100);
            for (int round = 0; round < 200; round++) {
                Link link = set.openUdp(address, 0);
                var listener = set.listenLocal(folder.resolve("s" + round));
                LocalChannel client = set.connectLocal(folder.resolve("s" + round));
                LocalChannel accepted = Objects.requireNonNull(listener.accept());
                Frames.send(link, burst, link.localAddress(), 20, 1);
                assertThat(client.send(message, message)).isTrue();
                assertThat(link.poll(received)).isEqualTo(1);
                assertThat(accepted.poll()).isNotNull();
                link.close();
                client.close();
                accepted.close();
                listener.close();
            }
            done.set(true);
            set.wakeup();
            waiter.get(20, TimeUnit.SECONDS);
        }
    }
}
