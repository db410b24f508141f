package io.rdma4j.conformance.sockets;

import static io.rdma4j.conformance.sockets.DatagramChannels.datagram;
import static io.rdma4j.conformance.sockets.DatagramChannels.send;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.conformance.device.TestDevices;
import io.rdma4j.conformance.sockets.DatagramChannels.Kind;
import io.rdma4j.sockets.RdmaDatagramSocket;
import io.rdma4j.sockets.RdmaSockets;
import io.rdma4j.sockets.options.RdmaSocketOptions;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.AlreadyBoundException;
import java.nio.channels.AlreadyConnectedException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.NotYetConnectedException;
import java.nio.channels.SelectionKey;
import java.nio.channels.UnresolvedAddressException;
import java.nio.channels.UnsupportedAddressTypeException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The documented behaviour of {@link DatagramChannel}, over RDMA and over UDP. */
@Timeout(60)
class DatagramChannelConformanceTest {
    private static final int MAX_BYTES = 2032;
    private static final int LONGER_THAN_ANY = 65_508;

    private static void assertReads(DatagramChannel from, int bytes) throws IOException {
        ByteBuffer target = ByteBuffer.allocate(MAX_BYTES);
        assertThat(from.read(target)).isEqualTo(bytes);
        assertThat(target.flip()).isEqualTo(datagram(bytes));
    }

    // ---- datagrams

    @ParameterizedTest
    @EnumSource(Kind.class)
    void datagramArrivesWholeWithItsSender(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel a = channels.bound();
            DatagramChannel b = channels.bound();
            for (int bytes : new int[] {0, 1, 1000, 1100, 0, MAX_BYTES}) {
                ByteBuffer target = ByteBuffer.allocateDirect(4000).position(7);
                send(a, datagram(bytes), b);
                assertThat(b.receive(target)).isEqualTo(a.getLocalAddress());
                assertThat(target.flip().position(7)).isEqualTo(datagram(bytes));
                ByteBuffer back = ByteBuffer.allocate(4000);
                send(b, datagram(bytes).asReadOnlyBuffer(), a);
                assertThat(a.receive(back)).isEqualTo(b.getLocalAddress());
                assertThat(back.flip()).isEqualTo(datagram(bytes));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void bytesThatDoNotFitIntoTheBufferAreDiscarded(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel[] pair = channels.connected();
            // One at a time: the first datagrams take a different path from later ones, and may be overtaken by them.
            pair[0].write(datagram(100));
            ByteBuffer target = ByteBuffer.allocate(50).limit(10);
            assertThat(pair[1].receive(target)).isEqualTo(pair[0].getLocalAddress());
            assertThat(target.position()).isEqualTo(10);
            pair[0].write(datagram(101));
            assertThat(pair[1].receive(target)).as("no space left").isEqualTo(pair[0].getLocalAddress());
            pair[0].write(datagram(102));
            assertThat(pair[1].read(target.clear())).isEqualTo(50);
            assertThat(target.flip()).isEqualTo(datagram(102).limit(50));
            pair[0].write(datagram(103));
            assertReads(pair[1], 103);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void nonBlockingChannelTransfersWhatItCanWithoutWaiting(Kind kind) throws Exception {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel[] pair = channels.connected();
            ByteBuffer target = ByteBuffer.allocate(100);
            for (DatagramChannel each : pair) {
                each.configureBlocking(false);
                assertThat(each.receive(target)).isNull();
                assertThat(each.read(target)).isZero();
                assertThat(each.read(new ByteBuffer[] {target, target})).isZero();
            }
            assertThat(pair[0].write(datagram(5))).isEqualTo(5);
            while (pair[1].read(target) == 0) {
                Thread.sleep(1);
            }
            assertThat(target.flip()).isEqualTo(datagram(5));
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void severalBuffersFormOneDatagram(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel[] pair = channels.connected();
            ByteBuffer whole = datagram(900);
            ByteBuffer[] parts = {
                ByteBuffer.allocate(9),
                whole.slice(0, 100),
                ByteBuffer.allocate(0),
                ByteBuffer.allocateDirect(500).put(whole.slice(100, 500)).flip(),
                whole.slice(600, 300).asReadOnlyBuffer(),
                ByteBuffer.allocate(9)
            };
            assertThat(pair[0].write(parts, 1, 4)).isEqualTo(900);
            assertThat(parts).extracting(ByteBuffer::remaining).containsExactly(9, 0, 0, 0, 0, 9);
            ByteBuffer[] targets = {
                ByteBuffer.allocate(9),
                ByteBuffer.allocateDirect(10),
                ByteBuffer.allocate(0),
                ByteBuffer.allocate(400).position(1),
                ByteBuffer.allocateDirect(1000)
            };
            assertThat(pair[1].read(targets, 1, 4)).isEqualTo(900);
            assertThat(targets).extracting(ByteBuffer::position).containsExactly(0, 10, 0, 400, 491);
            assertThat(targets[1].flip()).isEqualTo(whole.slice(0, 10));
            assertThat(targets[3].flip().position(1)).isEqualTo(whole.slice(10, 399));
            assertThat(targets[4].flip()).isEqualTo(whole.slice(409, 491));
            pair[0].write(datagram(901));
            pair[0].write(datagram(902));
            assertThat(pair[1].read(new ByteBuffer[] {targets[1].clear(), targets[2]}))
                    .isEqualTo(10);
            assertReads(pair[1], 902);
            assertThatThrownBy(() -> pair[1].read(targets, 4, 2)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> pair[0].write(parts, -1, 2)).isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void tooLongDatagramIsRefusedWhole(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel[] pair = channels.connected();
            ByteBuffer half = ByteBuffer.allocate(LONGER_THAN_ANY / 2);
            ByteBuffer source = ByteBuffer.allocate(LONGER_THAN_ANY);
            ThrowingCallable[] calls = {
                () -> pair[0].write(source),
                () -> pair[0].send(source, pair[1].getLocalAddress()),
                () -> pair[0].write(new ByteBuffer[] {half, half.duplicate()}),
                () -> channels.open().send(source, pair[1].getLocalAddress())
            };
            for (ThrowingCallable call : calls) {
                assertThatThrownBy(call).isInstanceOf(IOException.class).hasMessageStartingWith("Message too long");
            }
            assertThat(source.position()).isZero();
            assertThat(half.position()).isZero();
            pair[0].write(datagram(3));
            assertReads(pair[1], 3);
        }
    }

    /** Tests the limit that {@link RdmaSockets#openDatagramChannel} documents. */
    @Test
    void datagramOverRdmaHasTheDocumentedMaximumLength() throws IOException {
        try (DatagramChannels channels = new DatagramChannels(Kind.RDMA)) {
            DatagramChannel[] pair = channels.connected();
            assertThat(RdmaDatagramSocket.maxBytes(channels.address)).isEqualTo(MAX_BYTES);
            pair[0].write(datagram(MAX_BYTES));
            assertReads(pair[1], MAX_BYTES);
            assertThatThrownBy(() -> pair[0].write(datagram(MAX_BYTES + 1)))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("Message too long");
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void slowReceiverLosesDatagramsAndDoesNotBlockTheSender(Kind kind) throws Exception {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel[] pair = channels.connected();
            pair[1].configureBlocking(false);
            int sent = 20_000;
            for (int i = 0; i < sent; i++) {
                assertThat(pair[0].write(ByteBuffer.wrap(new byte[1000]))).isEqualTo(1000);
            }
            int received = 0;
            ByteBuffer target = ByteBuffer.allocate(1000);
            while (pair[1].read(target) > 0) {
                received++;
                target.clear();
            }
            assertThat(received).isPositive().isLessThan(sent);
            // Datagrams that were in flight may still arrive, together with the new ones.
            int last = 0;
            while (last != 9) {
                pair[0].write(datagram(9));
                Thread.sleep(1);
                last = pair[1].read(target.clear());
            }
        }
    }

    // ---- addresses

    @ParameterizedTest
    @EnumSource(Kind.class)
    void firstUseBindsAChannelToTheWildcardAddress(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel peer = channels.bound();
            DatagramChannel sender = channels.open();
            assertThat(sender.getLocalAddress()).isNull();
            send(sender, datagram(5), peer);
            InetSocketAddress local = (InetSocketAddress) sender.getLocalAddress();
            assertThat(local.getAddress().isAnyLocalAddress()).isTrue();
            InetSocketAddress seen = (InetSocketAddress) peer.receive(ByteBuffer.allocate(10));
            assertThat(seen.getPort()).isEqualTo(local.getPort()).isPositive();
            peer.send(datagram(6), seen);
            assertThat(sender.receive(ByteBuffer.allocate(10))).isEqualTo(peer.getLocalAddress());
            assertThatThrownBy(() -> sender.bind(null)).isInstanceOf(AlreadyBoundException.class);

            DatagramChannel receiver = channels.open();
            receiver.configureBlocking(false);
            assertThat(receiver.receive(ByteBuffer.allocate(10))).isNull();
            assertThat(receiver.getLocalAddress()).isNotNull();

            DatagramChannel connected = channels.open().connect(peer.getLocalAddress());
            assertThat(((InetSocketAddress) connected.getLocalAddress()).getPort())
                    .isPositive();
            assertThat(channels.open().bind(null).getLocalAddress()).isNotNull();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void portBelongsToOneChannel(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel first = channels.bound();
            DatagramChannel second = channels.open();
            assertThatThrownBy(() -> second.bind(first.getLocalAddress())).isInstanceOf(SocketException.class);
            assertThat(second.getLocalAddress()).isNull();
            InetSocketAddress address = (InetSocketAddress) first.getLocalAddress();
            first.close();
            assertThat(second.bind(address).getLocalAddress()).isEqualTo(address);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void connectedChannelReceivesFromItsPeerOnly(Kind kind) throws Exception {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel own = channels.bound();
            DatagramChannel peer = channels.bound();
            DatagramChannel stranger = channels.bound();
            for (int i = 0; i < 3; i++) {
                send(stranger, datagram(1), own);
            }
            Thread.sleep(50); // until they have arrived
            assertThat(own.connect(peer.getLocalAddress())).isSameAs(own);
            assertThat(own.isConnected()).isTrue();
            assertThat(own.getRemoteAddress()).isEqualTo(peer.getLocalAddress());
            send(stranger, datagram(2), own);
            send(peer, datagram(3), own);
            assertReads(own, 3);
            assertThatThrownBy(() -> own.send(datagram(4), stranger.getLocalAddress()))
                    .isInstanceOf(AlreadyConnectedException.class);
            assertThatThrownBy(() -> own.connect(peer.getLocalAddress())).isInstanceOf(AlreadyConnectedException.class);
            send(own, datagram(5), peer);
            own.write(datagram(6));
            assertThat(peer.receive(ByteBuffer.allocate(10))).isEqualTo(own.getLocalAddress());

            assertThat(own.disconnect()).isSameAs(own);
            assertThat(own.isConnected()).isFalse();
            assertThat(own.getRemoteAddress()).isNull();
            own.disconnect();
            send(stranger, datagram(7), own);
            assertThat(own.receive(ByteBuffer.allocate(10))).isEqualTo(stranger.getLocalAddress());
            own.connect(stranger.getLocalAddress());
            stranger.connect(own.getLocalAddress()).write(datagram(8));
            assertReads(own, 8);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void onlyAConnectedChannelReadsAndWrites(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel own = channels.bound();
            ByteBuffer[] buffers = {ByteBuffer.allocate(1)};
            ThrowingCallable[] calls = {
                () -> own.read(buffers[0]), () -> own.write(buffers[0]),
                () -> own.read(buffers), () -> own.write(buffers)
            };
            for (ThrowingCallable call : calls) {
                assertThatThrownBy(call).isInstanceOf(NotYetConnectedException.class);
            }
            own.connect(channels.bound().getLocalAddress());
            assertThat(own.write(buffers)).isEqualTo(1);
            own.disconnect();
            assertThatThrownBy(calls[0]).isInstanceOf(NotYetConnectedException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void invalidAddressesAreRefused(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel own = channels.open();
            InetSocketAddress unresolved = InetSocketAddress.createUnresolved("nowhere.invalid", 5);
            assertThatThrownBy(() -> own.bind(unresolved)).isInstanceOf(UnresolvedAddressException.class);
            assertThatThrownBy(() -> own.connect(unresolved)).isInstanceOf(UnresolvedAddressException.class);
            assertThatThrownBy(() -> own.send(datagram(1), unresolved)).isInstanceOf(UnresolvedAddressException.class);
            UnixDomainSocketAddress other = UnixDomainSocketAddress.of("socket");
            InetSocketAddress ipv6 = new InetSocketAddress(InetAddress.ofLiteral("::1"), 5);
            assertThatThrownBy(() -> own.bind(other)).isInstanceOf(UnsupportedAddressTypeException.class);
            assertThatThrownBy(() -> own.bind(ipv6)).isInstanceOf(UnsupportedAddressTypeException.class);
            assertThatThrownBy(() -> own.connect(other)).isInstanceOf(UnsupportedAddressTypeException.class);
            assertThatThrownBy(() -> own.connect(ipv6)).isInstanceOf(UnsupportedAddressTypeException.class);
            assertThatThrownBy(() -> own.send(datagram(1), other)).isInstanceOf(UnsupportedAddressTypeException.class);
            assertThatThrownBy(() -> own.send(datagram(1), ipv6)).isInstanceOf(UnsupportedAddressTypeException.class);
            InetSocketAddress portZero = new InetSocketAddress(channels.address, 0);
            assertThatThrownBy(() -> own.send(datagram(1), portZero)).isInstanceOf(SocketException.class);
            InetSocketAddress elsewhere = new InetSocketAddress(InetAddress.ofLiteral("192.0.2.77"), 0);
            assertThatThrownBy(() -> channels.open().bind(elsewhere)).isInstanceOf(SocketException.class);
            assertThatThrownBy(() -> own.receive(ByteBuffer.allocate(1).asReadOnlyBuffer()))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> channels.open(StandardProtocolFamily.UNIX))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void sendToAnUnreachableNetworkFailsAtOnceAndOnce(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel own = channels.bound();
            InetSocketAddress far = new InetSocketAddress(InetAddress.ofLiteral("198.51.100.7"), 9);
            ByteBuffer source = datagram(5);
            assertThatThrownBy(() -> own.send(source, far)).isInstanceOf(SocketException.class);
            assertThat(source.remaining()).isEqualTo(5);
            own.configureBlocking(false);
            assertThat(own.receive(ByteBuffer.allocate(1))).isNull();
            DatagramChannel peer = channels.bound();
            send(own, source, peer);
            assertThat(peer.receive(ByteBuffer.allocate(5))).isEqualTo(own.getLocalAddress());
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void dualStackChannelExchangesDatagramsWithBothFamilies(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel both = channels.open(StandardProtocolFamily.INET6);
            InetSocketAddress ipv6 = new InetSocketAddress(TestDevices.ipv6Address(), 0);
            DatagramChannel[] peers = {
                channels.bound(), channels.open(StandardProtocolFamily.INET6).bind(ipv6)
            };
            for (DatagramChannel peer : peers) {
                for (int i = 1; i < 4; i++) {
                    send(both, datagram(i), peer);
                    ByteBuffer target = ByteBuffer.allocate(10);
                    InetSocketAddress from = (InetSocketAddress) peer.receive(target);
                    assertThat(target.flip()).isEqualTo(datagram(i));
                    peer.send(datagram(10 + i), from);
                    assertThat(both.receive(ByteBuffer.allocate(20))).isEqualTo(peer.getLocalAddress());
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void connectedChannelReportsAnUnreachablePort(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel own = channels.open();
            own.connect(channels.nobody());
            own.write(datagram(1));
            assertThatThrownBy(() -> own.read(ByteBuffer.allocate(1))).isInstanceOf(PortUnreachableException.class);
            DatagramChannel peer = channels.bound();
            own.disconnect();
            send(own, datagram(2), peer);
            assertThat(peer.receive(ByteBuffer.allocate(1))).isNotNull();
        }
    }

    // ---- options, groups and close

    @ParameterizedTest
    @EnumSource(Kind.class)
    void supportedOptionsCanBeSetAndRead(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel own = channels.open();
            assertThat(own.supportedOptions())
                    .contains(
                            StandardSocketOptions.SO_SNDBUF,
                            StandardSocketOptions.SO_RCVBUF,
                            StandardSocketOptions.SO_REUSEADDR,
                            StandardSocketOptions.IP_TOS);
            assertThat(own.setOption(StandardSocketOptions.SO_REUSEADDR, true)).isSameAs(own);
            assertThat(own.getOption(StandardSocketOptions.SO_REUSEADDR)).isTrue();
            own.setOption(StandardSocketOptions.SO_SNDBUF, 40_000).setOption(StandardSocketOptions.SO_RCVBUF, 50_000);
            assertThat(own.getOption(StandardSocketOptions.SO_SNDBUF)).isGreaterThanOrEqualTo(40_000);
            assertThat(own.getOption(StandardSocketOptions.SO_RCVBUF)).isGreaterThanOrEqualTo(50_000);
            own.bind(new InetSocketAddress(channels.address, 0));
            own.setOption(StandardSocketOptions.IP_TOS, 0x10);
            assertThat(own.getOption(StandardSocketOptions.IP_TOS)).isEqualTo(0x10);
            own.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            own.setOption(StandardSocketOptions.SO_SNDBUF, 30_000);
            assertThatThrownBy(() -> own.setOption(StandardSocketOptions.TCP_NODELAY, true))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> own.getOption(StandardSocketOptions.TCP_NODELAY))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> own.setOption(StandardSocketOptions.SO_SNDBUF, -1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> own.setOption(StandardSocketOptions.SO_SNDBUF, null))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> own.setOption(null, 5)).isInstanceOf(NullPointerException.class);
        }
    }

    @Test
    void queueSizesOfAnRdmaChannelAreSetBeforeItIsBound() throws IOException {
        try (DatagramChannels channels = new DatagramChannels(Kind.RDMA)) {
            DatagramChannel small = channels.open();
            small.setOption(RdmaSocketOptions.RDMA_RQSIZE, 3)
                    .setOption(RdmaSocketOptions.RDMA_SQSIZE, 4)
                    .setOption(RdmaSocketOptions.RDMA_INLINE, 0);
            small.bind(new InetSocketAddress(channels.address, 0));
            assertThat(small.getOption(RdmaSocketOptions.RDMA_RQSIZE)).isEqualTo(3);
            assertThatThrownBy(() -> small.setOption(RdmaSocketOptions.RDMA_SQSIZE, 5))
                    .isInstanceOf(SocketException.class)
                    .hasMessageContaining("before the socket is bound");
            DatagramChannel peer = channels.bound();
            for (int i = 1; i < 50; i++) {
                send(small, datagram(i), peer);
                ByteBuffer target = ByteBuffer.allocate(100);
                assertThat(peer.receive(target)).isEqualTo(small.getLocalAddress());
                assertThat(target.flip()).isEqualTo(datagram(i));
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void groupMustBeAMulticastAddress(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel own = channels.open();
            NetworkInterface loopback = NetworkInterface.getByInetAddress(InetAddress.ofLiteral("127.0.0.1"));
            assertThatThrownBy(() -> own.join(channels.address, loopback)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> own.join(null, loopback)).isInstanceOf(NullPointerException.class);
            own.close();
            assertThatThrownBy(() -> own.join(InetAddress.ofLiteral("239.1.2.3"), loopback))
                    .isInstanceOf(ClosedChannelException.class);
        }
    }

    @Test
    void rdmaChannelRefusesMulticastGroups() throws IOException {
        try (DatagramChannels channels = new DatagramChannels(Kind.RDMA)) {
            DatagramChannel own = channels.open();
            InetAddress group = InetAddress.ofLiteral("239.1.2.3");
            NetworkInterface loopback = NetworkInterface.getByInetAddress(InetAddress.ofLiteral("127.0.0.1"));
            assertThatThrownBy(() -> own.join(group, loopback))
                    .isInstanceOf(UnsupportedOperationException.class)
                    .hasMessageContaining("do not support multicast");
            assertThatThrownBy(() -> own.join(group, loopback, channels.address))
                    .isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(() -> own.send(datagram(1), new InetSocketAddress(group, 5)))
                    .isInstanceOf(SocketException.class)
                    .hasMessageContaining("identify one host");
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void closedChannelRefusesAllCalls(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel own = channels.bound();
            DatagramChannel peer = channels.bound();
            own.connect(peer.getLocalAddress());
            assertThat(own.validOps()).isEqualTo(SelectionKey.OP_READ | SelectionKey.OP_WRITE);
            own.close();
            own.close();
            assertThat(own.isOpen()).isFalse();
            assertThat(own.isConnected()).isFalse();
            ByteBuffer[] buffers = {ByteBuffer.allocate(1)};
            ThrowingCallable[] calls = {
                () -> own.read(buffers[0]),
                () -> own.write(buffers[0]),
                () -> own.read(buffers),
                () -> own.write(buffers),
                () -> own.receive(buffers[0]),
                () -> own.send(buffers[0], peer.getLocalAddress()),
                () -> own.bind(null),
                () -> own.connect(peer.getLocalAddress()),
                own::getLocalAddress,
                own::getRemoteAddress,
                () -> own.configureBlocking(false),
                () -> own.setOption(StandardSocketOptions.IP_TOS, 0),
                () -> own.getOption(StandardSocketOptions.IP_TOS)
            };
            for (ThrowingCallable call : calls) {
                assertThatThrownBy(call).isInstanceOf(ClosedChannelException.class);
            }
            own.disconnect();
        }
    }
}
