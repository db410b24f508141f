package io.rdma4j.sockets.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.fixture.BlockedThread;
import io.rdma4j.sockets.datagram.Drop;
import java.io.IOException;
import java.net.BindException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyConnectedException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of datagram endpoints over the software device, both ends in this process. */
@Timeout(30)
class DatagramEndpointTest {
    private static final long PATIENCE_NANOS = 10_000_000_000L;
    private static final int MAX = 2032;

    private final List<DatagramEndpoint> opened = new ArrayList<>();

    private DatagramEndpoint open() {
        DatagramEndpoint endpoint = new DatagramEndpoint(ConnectionService.ofProcess(), DatagramSettings.DEFAULT);
        opened.add(endpoint);
        return endpoint;
    }

    private DatagramEndpoint bound(InetAddress address) throws IOException {
        DatagramEndpoint endpoint = open();
        endpoint.bind(new InetSocketAddress(address, 0));
        return endpoint;
    }

    /** Returns an address of this host that no other test uses. */
    private static InetAddress loopback() throws IOException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        return InetAddress.getByAddress(new byte[] {
            127, (byte) random.nextInt(1, 255), (byte) random.nextInt(256), (byte) random.nextInt(1, 255)
        });
    }

    private static InetSocketAddress addressOf(DatagramEndpoint endpoint) {
        return Objects.requireNonNull(endpoint.localAddress());
    }

    @Test
    void endpointIsBoundAfterTheServiceOfUdpSocketsFailedToStart() throws IOException {
        AtomicBoolean hasFailed = new AtomicBoolean();
        DatagramEndpoint endpoint =
                new DatagramEndpoint(ConnectionService.ofProcess(), DatagramSettings.DEFAULT, () -> {
                    if (hasFailed.compareAndSet(false, true)) {
                        throw new IOException("Too many open files");
                    }
                    return CompanionService.instance();
                });
        opened.add(endpoint);
        InetAddress address = loopback();
        DatagramEndpoint free = bound(address);
        InetSocketAddress local = addressOf(free);
        free.close();
        assertThatThrownBy(() -> endpoint.bind(local)).hasMessage("Too many open files");
        endpoint.bind(local);
        assertThat(endpoint.localAddress()).isEqualTo(local);
    }

    @AfterEach
    void close() {
        opened.forEach(DatagramEndpoint::close);
    }

    private static byte[] random(int bytes) {
        byte[] data = new byte[bytes];
        ThreadLocalRandom.current().nextBytes(data);
        return data;
    }

    private static InetSocketAddress receive(DatagramEndpoint at, ByteBuffer target) throws IOException {
        @Nullable InetSocketAddress from = at.receive(target, false);
        while (from == null) {
            assertThat(at.await(Readiness.IN, System.nanoTime() + PATIENCE_NANOS))
                    .isNotZero();
            from = at.receive(target, false);
        }
        target.flip();
        return from;
    }

    private static byte[] bytes(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
    }

    private static void exchange(DatagramEndpoint from, DatagramEndpoint to, int size) throws IOException {
        byte[] data = random(size);
        assertThat(from.send(ByteBuffer.wrap(data), addressOf(to))).isTrue();
        ByteBuffer target = ByteBuffer.allocate(MAX + 1);
        assertThat(receive(to, target)).isEqualTo(addressOf(from));
        assertThat(bytes(target)).isEqualTo(data);
    }

    @Test
    void datagramsOfEverySizeArriveWithTheirSender() throws IOException {
        DatagramEndpoint a = bound(loopback());
        DatagramEndpoint b = bound(loopback());
        for (int size : new int[] {0, 1, 64, 65, 1000, MAX}) {
            exchange(a, b, size);
            exchange(b, a, size);
        }
    }

    @Test
    void onlyTheFirstDatagramGoesOverUdp() throws IOException {
        DatagramEndpoint a = bound(loopback());
        DatagramEndpoint b = bound(loopback());
        exchange(a, b, 10);
        exchange(b, a, 10);
        long before = a.questions() + b.questions();
        for (int i = 0; i < 100; i++) {
            exchange(a, b, 100);
            exchange(b, a, 100);
        }
        assertThat(a.questions() + b.questions()).isEqualTo(before);
    }

    @Test
    void firstDatagramBindsAnUnboundSocket() throws IOException {
        DatagramEndpoint server = open();
        server.bind(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0));
        InetSocketAddress to = new InetSocketAddress(
                InetAddress.ofLiteral("127.0.0.1"), addressOf(server).getPort());
        DatagramEndpoint client = open();
        assertThat(client.send(ByteBuffer.wrap(new byte[] {1}), to)).isTrue();
        InetSocketAddress from = receive(server, ByteBuffer.allocate(10));
        assertThat(from.getPort()).isEqualTo(addressOf(client).getPort());
        for (int i = 0; i < 10; i++) {
            assertThat(server.send(ByteBuffer.wrap(new byte[] {2}), from)).isTrue();
            assertThat(receive(client, ByteBuffer.allocate(10))).isEqualTo(to);
        }
    }

    @Test
    void wildcardSocketReceivesOnAllDevices() throws Exception {
        Optional<InetAddress> other = NetworkInterface.networkInterfaces()
                .filter(DatagramEndpointTest::isUpAndNoLoopback)
                .flatMap(NetworkInterface::inetAddresses)
                .filter(address -> address instanceof Inet4Address)
                .findFirst();
        assumeTrue(other.isPresent(), "the host has an IPv4 address that is not of the loopback interface");
        DatagramEndpoint server = open();
        server.bind(new InetSocketAddress(InetAddress.ofLiteral("0.0.0.0"), 0));
        int port = addressOf(server).getPort();
        for (InetAddress at : new InetAddress[] {InetAddress.ofLiteral("127.0.0.1"), other.orElseThrow()}) {
            DatagramEndpoint client = bound(at);
            for (int i = 0; i < 20; i++) {
                Thread reader = Thread.ofVirtual().start(() -> server.await(Readiness.IN, Long.MAX_VALUE));
                assertThat(client.send(ByteBuffer.allocate(1), new InetSocketAddress(at, port)))
                        .isTrue();
                assertThat(reader.join(java.time.Duration.ofSeconds(5))).isTrue();
                assertThat(receive(server, ByteBuffer.allocate(1))).isEqualTo(addressOf(client));
            }
            assertThat(client.questions()).isLessThan(20);
        }
    }

    private static boolean isUpAndNoLoopback(NetworkInterface candidate) {
        try {
            return candidate.isUp() && !candidate.isLoopback();
        } catch (SocketException closed) {
            return false;
        }
    }

    @Test
    void datagramsArriveOverIpv6() throws IOException {
        DatagramEndpoint a = bound(InetAddress.ofLiteral("::1"));
        DatagramEndpoint b = bound(InetAddress.ofLiteral("::1"));
        for (int i = 0; i < 10; i++) {
            exchange(a, b, 2020);
            exchange(b, a, 5);
        }
    }

    @Test
    void peekedDatagramStaysQueued() throws IOException {
        DatagramEndpoint a = bound(loopback());
        DatagramEndpoint b = bound(loopback());
        exchange(a, b, 1);
        a.send(ByteBuffer.wrap(new byte[] {1, 2, 3}), addressOf(b));
        b.await(Readiness.IN, System.nanoTime() + PATIENCE_NANOS);
        ByteBuffer first = ByteBuffer.allocate(2);
        assertThat(b.receive(first, true)).isEqualTo(addressOf(a));
        assertThat(first.position()).isEqualTo(2);
        ByteBuffer second = ByteBuffer.allocate(10);
        assertThat(b.receive(second, false)).isEqualTo(addressOf(a));
        assertThat(second.position()).isEqualTo(3);
        assertThat(b.receive(second, false)).isNull();
    }

    @Test
    void connectedSocketReceivesOnlyFromItsPeer() throws IOException {
        DatagramEndpoint server = bound(loopback());
        DatagramEndpoint client = open();
        client.connect(addressOf(server));
        assertThat(client.peerAddress()).isEqualTo(addressOf(server));
        int port = addressOf(client).getPort();
        DatagramEndpoint stranger = bound(loopback());
        assertThat(stranger.send(ByteBuffer.wrap(new byte[1]), addressOf(client)))
                .isTrue();
        assertThat(client.send(ByteBuffer.wrap(new byte[2]))).isTrue();
        receive(server, ByteBuffer.allocate(10));
        assertThat(server.send(ByteBuffer.wrap(new byte[3]), addressOf(client))).isTrue();
        ByteBuffer target = ByteBuffer.allocate(10);
        assertThat(receive(client, target)).isEqualTo(addressOf(server));
        assertThat(target.remaining()).isEqualTo(3);
        assertThat(client.receive(target, false)).isNull();
        assertThatThrownBy(() -> client.send(ByteBuffer.wrap(new byte[1]), addressOf(stranger)))
                .isInstanceOf(AlreadyConnectedException.class);
        client.disconnect();
        assertThat(client.peerAddress()).isNull();
        assertThat(stranger.send(
                        ByteBuffer.wrap(new byte[4]), new InetSocketAddress(InetAddress.getLoopbackAddress(), port)))
                .isTrue();
        assertThat(receive(client, target.clear())).isEqualTo(addressOf(stranger));
    }

    @Test
    void connectedSocketReportsAnUnreachablePort() throws IOException {
        DatagramEndpoint closed = bound(loopback());
        InetSocketAddress to = addressOf(closed);
        closed.close();
        DatagramEndpoint client = open();
        client.connect(to);
        assertThat(client.send(ByteBuffer.wrap(new byte[1]))).isTrue();
        client.await(Readiness.IN, System.nanoTime() + PATIENCE_NANOS);
        assertThatThrownBy(() -> client.receive(ByteBuffer.allocate(1), false))
                .isInstanceOf(PortUnreachableException.class);
    }

    @Test
    void tooLongDatagramIsRejected() throws IOException {
        DatagramEndpoint a = bound(loopback());
        assertThatThrownBy(() -> a.send(ByteBuffer.allocate(MAX + 1), new InetSocketAddress(loopback(), 9)))
                .hasMessageContaining("Message too long");
    }

    @Test
    void portBelongsToOneSocketUntilItIsClosed() throws IOException {
        DatagramEndpoint a = bound(loopback());
        InetSocketAddress address = addressOf(a);
        DatagramEndpoint b = open();
        assertThatThrownBy(() -> b.bind(address)).isInstanceOf(BindException.class);
        a.close();
        b.bind(address);
        assertThat(b.localAddress()).isEqualTo(address);
    }

    @Test
    void restartedPeerIsFoundAgain() throws Exception {
        DatagramEndpoint client = bound(loopback());
        DatagramEndpoint server = bound(loopback());
        InetSocketAddress address = addressOf(server);
        exchange(client, server, 3);
        exchange(client, server, 3);
        server.close();
        DatagramEndpoint again = open();
        again.bind(address);
        @Nullable InetSocketAddress from = null;
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (from == null && System.nanoTime() < deadline) {
            client.send(ByteBuffer.wrap(new byte[1]), address);
            again.await(Readiness.IN, System.nanoTime() + 100_000_000);
            from = again.receive(ByteBuffer.allocate(10), false);
        }
        assertThat(from).isEqualTo(addressOf(client));
    }

    @Test
    void slowReaderLosesOnlyDatagrams() throws IOException {
        DatagramEndpoint a = bound(loopback());
        DatagramEndpoint b = bound(loopback());
        exchange(a, b, 1);
        exchange(a, b, 1);
        for (int i = 0; i < 1000; i++) {
            while (!a.send(ByteBuffer.allocate(4).putInt(i).flip(), addressOf(b))) {
                a.await(Readiness.OUT, System.nanoTime() + PATIENCE_NANOS);
            }
        }
        ByteBuffer target = ByteBuffer.allocate(10);
        int last = -1;
        int count = 0;
        while (b.await(Readiness.IN, System.nanoTime() + 200_000_000) != 0) {
            assertThat(b.receive(target.clear(), false)).isEqualTo(addressOf(a));
            assertThat(target.getInt(0)).isGreaterThan(last);
            last = target.getInt(0);
            count++;
        }
        assertThat(count).isBetween(1, 999);
        exchange(a, b, 100);
    }

    @Test
    void waitingThreadIsWoken() throws Exception {
        DatagramEndpoint a = bound(loopback());
        DatagramEndpoint b = bound(loopback());
        for (int i = 0; i < 3; i++) {
            Thread reader = Thread.ofVirtual().start(() -> b.await(Readiness.IN, Long.MAX_VALUE));
            BlockedThread.await(reader);
            a.send(ByteBuffer.allocate(1), addressOf(b));
            assertThat(reader.join(java.time.Duration.ofSeconds(10))).isTrue();
            assertThat(receive(b, ByteBuffer.allocate(1))).isEqualTo(addressOf(a));
        }
        Thread waiter = Thread.ofVirtual().start(() -> b.await(Readiness.IN, Long.MAX_VALUE));
        BlockedThread.await(waiter);
        b.close();
        assertThat(waiter.join(java.time.Duration.ofSeconds(10))).isTrue();
    }

    @Test
    void malformedUdpMessageIsCounted() throws Exception {
        DatagramEndpoint a = bound(loopback());
        try (java.nio.channels.DatagramChannel hostile = java.nio.channels.DatagramChannel.open()) {
            hostile.send(ByteBuffer.wrap(random(40)), addressOf(a));
            hostile.send(ByteBuffer.allocate(0), addressOf(a));
        }
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (a.dropped(Drop.MALFORMED) < 2 && System.nanoTime() < deadline) {
            Thread.sleep(1);
        }
        assertThat(a.dropped(Drop.MALFORMED)).isEqualTo(2);
        exchange(a, bound(loopback()), 10);
    }
}
