package io.rdma4j.link.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.link.Frames;
import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LocalChannel;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.SendBurst;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.BindException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class MemoryNetworkTest {
    private static final InetAddress ONE = InetAddress.ofLiteral("10.0.0.1");
    private static final InetAddress TWO = InetAddress.ofLiteral("10.0.0.2");
    private static final ByteBuffer EMPTY = ByteBuffer.allocate(0);

    private final MemoryNetwork network = new MemoryNetwork(1500);
    private final SendBurst burst = new SendBurst(Arena.ofAuto(), 256 * 1024);

    @Test
    void framesAreDeliveredBetweenLinkSets() throws Exception {
        try (LinkSet left = network.newLinkSet();
                LinkSet right = network.newLinkSet()) {
            Link sender = left.openUdp(ONE, 4791);
            Link receiver = right.openUdp(TWO, 4791);
            CompletableFuture<Void> received =
                    CompletableFuture.runAsync(() -> assertThat(Frames.receive(right, receiver, 3))
                            .containsExactly(Frames.filled(20, 0), Frames.filled(20, 1), Frames.filled(20, 2)));
            for (int i = 0; i < 3; i++) {
                Frames.send(sender, burst, receiver.localAddress(), 20, i);
            }
            received.get();
        }
    }

    @Test
    void framesTooLargeForTheMtuAreCounted() throws IOException {
        try (LinkSet set = network.newLinkSet()) {
            Link link = set.openUdp(ONE, 0);
            Frames.send(link, burst, link.localAddress(), 1500 - 28, 1);
            Frames.send(link, burst, link.localAddress(), 1500 - 27, 1);
            assertThat(link.statistics().sentFrames.sum()).isEqualTo(1);
            assertThat(link.statistics().sendFailures.sum()).isEqualTo(1);
        }
    }

    @Test
    void slowReceiverLosesTheLatestFrames() throws IOException {
        try (LinkSet set = network.newLinkSet()) {
            Link sender = set.openUdp(ONE, 0);
            Link receiver = set.openUdp(TWO, 0);
            for (int i = 0; i < 600; i++) {
                Frames.send(sender, burst, receiver.localAddress(), 20, i);
            }
            ReceiveBurst received = new ReceiveBurst(1000);
            assertThat(receiver.poll(received)).isEqualTo(512);
            // Frames that the receiver holds stay unchanged until it polls again.
            Frames.send(sender, burst, receiver.localAddress(), 20, 99);
            assertThat(Frames.bytes(received.frame(0))).isEqualTo(Frames.filled(20, 0));
            assertThat(receiver.poll(received)).isZero();
            Frames.send(sender, burst, receiver.localAddress(), 20, 98);
            assertThat(receiver.poll(received)).isEqualTo(1);
        }
    }

    @Test
    void portInUseCausesABindExceptionUntilItIsClosed() throws IOException {
        try (LinkSet set = network.newLinkSet();
                LinkSet other = network.newLinkSet()) {
            Link link = set.openUdp(ONE, 4791);
            assertThatThrownBy(() -> other.openUdp(ONE, 4791)).isInstanceOf(BindException.class);
            link.close();
            assertThat(other.openUdp(ONE, 4791).localAddress().getPort()).isEqualTo(4791);
        }
    }

    @Test
    void everyLinkOfAGroupReceivesItsFramesUntilItIsClosed() throws IOException {
        InetAddress group = InetAddress.ofLiteral("239.0.0.1");
        try (LinkSet set = network.newLinkSet();
                LinkSet otherSet = network.newLinkSet()) {
            Link sender = set.openUdp(ONE, 4791);
            Link first = set.openMulticast(group, 4791, ONE);
            Link second = otherSet.openMulticast(group, 4791, TWO);
            Link otherGroup = otherSet.openMulticast(InetAddress.ofLiteral("239.0.0.2"), 4791, TWO);
            Frames.send(sender, burst, first.localAddress(), 20, 1);
            assertThat(Frames.receive(set, first, 1)).containsExactly(Frames.filled(20, 1));
            assertThat(Frames.receive(otherSet, second, 1)).containsExactly(Frames.filled(20, 1));
            ReceiveBurst received = new ReceiveBurst(4);
            assertThat(sender.poll(received) + otherGroup.poll(received)).isZero();
            first.close();
            Frames.send(sender, burst, first.localAddress(), 20, 2);
            assertThat(first.poll(received)).isZero();
            assertThat(Frames.receive(otherSet, second, 1)).containsExactly(Frames.filled(20, 2));
            Frames.send(second, burst, second.localAddress(), 20, 3);
            assertThat(second.statistics().sendFailures.sum()).isEqualTo(1);
            assertThat(second.poll(received)).isZero();
        }
    }

    @Test
    void localChannelsDeliverMessagesUntilTheirPeerCloses() throws Exception {
        Path path = Path.of("owner");
        LinkSet client = network.newLinkSet();
        try (LinkSet server = network.newLinkSet()) {
            assertThatThrownBy(() -> client.connectLocal(path)).isInstanceOf(IOException.class);
            LinkSet.LocalListener listener = server.listenLocal(path);
            LocalChannel second = client.connectLocal(path);
            LocalChannel first = Objects.requireNonNull(listener.accept());
            CompletableFuture<ByteBuffer> message = CompletableFuture.supplyAsync(() -> {
                ByteBuffer next = first.poll();
                while (next == null) {
                    server.await(Long.MAX_VALUE);
                    next = first.poll();
                }
                return next;
            });
            assertThat(second.send(ByteBuffer.wrap(new byte[] {1}), ByteBuffer.wrap(new byte[] {2, 3})))
                    .isTrue();
            assertThat(message.get()).isEqualTo(ByteBuffer.wrap(new byte[] {1, 2, 3}));
            assertThat(second.send(EMPTY, ByteBuffer.wrap(new byte[] {4}))).isTrue();
            client.close();
            assertThat(first.isClosed()).isTrue();
            assertThat(first.poll()).isEqualTo(ByteBuffer.wrap(new byte[] {4}));
            assertThat(first.poll()).isNull();
            assertThat(first.send(EMPTY, EMPTY)).isFalse();
        }
    }

    @Test
    void wakeupsAreNotLost() {
        try (LinkSet set = network.newLinkSet()) {
            set.wakeup();
            set.await(Long.MAX_VALUE);
            long start = System.nanoTime();
            set.await(10_000_000);
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(10_000_000);
        }
    }
}
