package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;

import io.rdma4j.cm.CmId;
import io.rdma4j.sockets.datagram.Drop;
import io.rdma4j.value.AccessFlag;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PortSpace;
import io.rdma4j.verbs.AddressHandle;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.MemoryRegion;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SendWorkRequest;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.wire.rsocket.CompanionHeader;
import io.rdma4j.wire.rsocket.DatagramHeader;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that knows the public queue key sends forged datagrams to a datagram socket. */
@Timeout(30)
class HostileDatagramTest {
    private static final long PATIENCE_NANOS = 10_000_000_000L;
    private static final int LONGEST = 4096;

    private final DatagramEndpoint victim =
            new DatagramEndpoint(ConnectionService.ofProcess(), DatagramSettings.DEFAULT);
    private final CmId id = CmId.create(PortSpace.UDP);
    private final Arena arena = Arena.ofShared();
    private InetAddress local = InetAddress.getLoopbackAddress();
    private InetSocketAddress target = new InetSocketAddress(0);

    @BeforeEach
    void bind() throws IOException {
        local = loopback();
        victim.bind(new InetSocketAddress(loopback(), 0));
        target = Objects.requireNonNull(victim.localAddress());
        id.bindAddress(new InetSocketAddress(local, 0));
        id.createQueuePair(QueuePairInitAttributes.of(new QueuePairCapabilities(16, 1, 1, 1, 0)));
    }

    private static InetAddress loopback() throws IOException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return InetAddress.getByAddress(new byte[] {
            127, (byte) random.nextInt(1, 255), (byte) random.nextInt(256), (byte) random.nextInt(1, 255)
        });
    }

    @AfterEach
    void close() {
        id.close();
        victim.close();
        arena.close();
    }

    private QueuePair queuePair() {
        return Objects.requireNonNull(id.queuePair());
    }

    private static ByteBuffer question(InetAddress from, int queuePairNumber) {
        Gid gid = Gid.of(from);
        ByteBuffer question = ByteBuffer.allocate(CompanionHeader.IPV4_LENGTH);
        new CompanionHeader(CompanionHeader.DATA, queuePairNumber, gid.high(), gid.low()).write(question);
        return question.flip();
    }

    /** Requests the victim's queue pair over UDP, and names a given queue pair as the sender. */
    private int ask(DatagramChannel udp, int inTheNameOf) throws IOException {
        udp.send(question(local, inTheNameOf), target);
        ByteBuffer answer = ByteBuffer.allocate(100);
        assertThat(udp.receive(answer)).isEqualTo(target);
        CompanionHeader header = Objects.requireNonNull(CompanionHeader.parse(answer.flip()));
        assertThat(header.operation()).isEqualTo(CompanionHeader.CONTROL);
        assertThat(answer.hasRemaining()).isFalse();
        return header.queuePairNumber();
    }

    private void write(int queuePairNumber, InetAddress claimed, int port, int length) {
        Gid gid = Gid.of(claimed);
        try (MemoryRegion memory = id.protectionDomain().register(arena.allocate(LONGEST, 8), AccessFlag.LOCAL_WRITE);
                AddressHandle to = id.protectionDomain()
                        .createAddressHandle(AddressVector.of(
                                id.verbs().gids(1).indexOf(Gid.of(local)), Gid.of(target.getAddress())))) {
            new DatagramHeader(port, 0, gid.high(), gid.low())
                    .write(memory.memory().asByteBuffer(), 0);
            queuePair()
                    .postSend(new SendWorkRequest()
                            .reset(1)
                            .from(memory, 0, length)
                            .to(to, queuePairNumber, DatagramHeader.QUEUE_KEY));
            awaitSent();
        }
    }

    /** Waits until the send has completed, since the device uses the memory until then. */
    private void awaitSent() {
        victim.await(Readiness.IN, System.nanoTime() + 200_000_000);
    }

    private void awaitDrop(Drop why, long count) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (victim.dropped(why) < count && System.nanoTime() < deadline) {
            victim.await(Readiness.IN, System.nanoTime() + 10_000_000);
        }
        assertThat(victim.dropped(why)).as(why.toString()).isEqualTo(count);
    }

    @Test
    void onlyTheQueuePairAnnouncedOverUdpIsAccepted() throws IOException {
        try (DatagramChannel udp = DatagramChannel.open().bind(new InetSocketAddress(local, 0))) {
            int port = ((InetSocketAddress) udp.getLocalAddress()).getPort();
            int number = ask(udp, queuePair().number() ^ 1);
            drain(0);
            write(number, local, port, 50);
            awaitDrop(Drop.UNKNOWN_SENDER, 1);
            write(number, local, port ^ 1, 50);
            awaitDrop(Drop.UNKNOWN_SENDER, 2);
            write(number, InetAddress.ofLiteral("127.99.99.99"), port, 50);
            awaitDrop(Drop.FORGED, 1);
            assertThat(ask(udp, queuePair().number())).isEqualTo(number);
            drain(0);
            write(number, local, port, 50);
            drain(42);
        }
    }

    @Test
    void datagramOfAnyLengthDoesNoHarm() throws IOException {
        try (DatagramChannel udp = DatagramChannel.open().bind(new InetSocketAddress(local, 0))) {
            int port = ((InetSocketAddress) udp.getLocalAddress()).getPort();
            int number = ask(udp, queuePair().number());
            drain(0);
            write(number, local, port, LONGEST);
            awaitDrop(Drop.MALFORMED, 1);
            write(number, local, port, 2049);
            awaitDrop(Drop.MALFORMED, 2);
            write(number, local, port, 7);
            awaitDrop(Drop.MALFORMED, 3);
            write(number, local, port, 0);
            awaitDrop(Drop.MALFORMED, 4);
            write(number, local, port, 2048);
            drain(2040);
            write(number, local, port, 8);
            drain(0);
        }
    }

    /** Receives the next datagram, which has this many bytes. */
    private void drain(int bytes) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(LONGEST);
        assertThat(victim.await(Readiness.IN, System.nanoTime() + PATIENCE_NANOS))
                .isEqualTo(Readiness.IN);
        assertThat(victim.receive(buffer, false)).isNotNull();
        assertThat(buffer.position()).isEqualTo(bytes);
        assertThat(victim.receive(buffer, false)).isNull();
    }

    /** A flood of dropped datagrams must not keep one call busy indefinitely. */
    @Test
    void oneCallHandlesABoundedNumberOfDatagrams() throws Exception {
        int most = DatagramResources.MAX_BATCHES * DatagramResources.BATCH;
        int number;
        try (DatagramChannel udp = DatagramChannel.open().bind(new InetSocketAddress(local, 0))) {
            number = ask(udp, queuePair().number());
        }
        drain(0);
        AtomicBoolean over = new AtomicBoolean();
        try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
            Future<?> flood = thread.submit(() -> flood(number, over));
            try {
                ByteBuffer buffer = ByteBuffer.allocate(LONGEST);
                long before = victim.dropped(Drop.MALFORMED);
                for (long dropped = 0; dropped < 20_000; ) {
                    assertThat(victim.receive(buffer, false)).isNull();
                    long now = victim.dropped(Drop.MALFORMED);
                    assertThat(now - before).as("datagrams taken by one call").isLessThanOrEqualTo(most);
                    dropped += now - before;
                    before = now;
                }
            } finally {
                over.set(true);
                flood.get();
            }
        }
        assertThat(victim.await(Readiness.IN, System.nanoTime() + 10_000_000)).isZero();
    }

    private void flood(int queuePairNumber, AtomicBoolean over) {
        try (MemoryRegion memory = id.protectionDomain().register(arena.allocate(8, 8), AccessFlag.LOCAL_WRITE);
                AddressHandle to = id.protectionDomain()
                        .createAddressHandle(AddressVector.of(
                                id.verbs().gids(1).indexOf(Gid.of(local)), Gid.of(target.getAddress())))) {
            SendWorkRequest junk = new SendWorkRequest();
            WorkCompletion[] completions = WorkCompletion.array(16);
            CompletionQueue queue = queuePair().sendCompletions();
            int underWay = 0;
            while (!over.get() || underWay > 0) {
                if (underWay < 16 && !over.get()) {
                    queuePair()
                            .postSend(junk.reset(1)
                                    .from(memory, 0, 4)
                                    .to(to, queuePairNumber, DatagramHeader.QUEUE_KEY)
                                    .signaled());
                    underWay++;
                }
                underWay -= queue.poll(completions);
            }
        }
    }
}
