package io.rdma4j.conformance.sockets;

import static io.rdma4j.conformance.sockets.DatagramChannels.datagram;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.conformance.sockets.DatagramChannels.Kind;
import io.rdma4j.fixture.BlockedThread;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.PortUnreachableException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.DatagramChannel;
import java.nio.channels.IllegalBlockingModeException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The documented behaviour of {@link DatagramSocket}, for the sockets of RDMA channels and of UDP channels. */
@Timeout(60)
class DatagramSocketConformanceTest {
    private static DatagramPacket packet(int bytes) {
        return new DatagramPacket(datagram(bytes).array(), bytes);
    }

    private static DatagramPacket packet(int bytes, DatagramSocket to) {
        DatagramPacket made = packet(bytes);
        made.setSocketAddress(to.getLocalSocketAddress());
        return made;
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void packetIsSentAndReceived(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramSocket a = channels.bound().socket();
            DatagramSocket b = channels.bound().socket();
            for (int bytes : new int[] {0, 1, 1000}) {
                byte[] target = new byte[2000];
                DatagramPacket received = new DatagramPacket(target, 5, 1500);
                a.send(packet(bytes, b));
                b.receive(received);
                assertThat(received.getLength()).isEqualTo(bytes);
                assertThat(received.getOffset()).isEqualTo(5);
                assertThat(received.getSocketAddress()).isEqualTo(a.getLocalSocketAddress());
                assertThat(ByteBuffer.wrap(target, 5, bytes)).isEqualTo(datagram(bytes));
                b.send(received);
                DatagramPacket back = new DatagramPacket(new byte[2000], 2000);
                a.receive(back);
                assertThat(back.getLength()).isEqualTo(bytes);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void reusedPacketKeepsItsFullCapacity(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramSocket own = channels.bound().socket();
            DatagramSocket peer = channels.bound().socket();
            DatagramPacket again = new DatagramPacket(new byte[100], 10, 50);
            for (int bytes : new int[] {3, 40, 0, 60, 7}) {
                peer.send(packet(bytes, own));
                own.receive(again);
                assertThat(again.getLength()).as("at most the capacity").isEqualTo(Math.min(bytes, 50));
                assertThat(ByteBuffer.wrap(again.getData(), 10, again.getLength()))
                        .isEqualTo(datagram(bytes).limit(again.getLength()));
            }
            again.setLength(5);
            peer.send(packet(60, own));
            own.receive(again);
            assertThat(again.getLength()).as("the length that was set").isEqualTo(5);
            again.setData(new byte[20]);
            peer.send(packet(60, own));
            own.receive(again);
            assertThat(again.getLength()).isEqualTo(20);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void socketReceivesWithATimeout(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramSocket own = channels.bound().socket();
            DatagramSocket peer = channels.bound().socket();
            assertThat(own.getSoTimeout()).isZero();
            own.setSoTimeout(60);
            assertThat(own.getSoTimeout()).isEqualTo(60);
            long start = System.nanoTime();
            assertThatThrownBy(() -> own.receive(packet(10))).isInstanceOf(SocketTimeoutException.class);
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(59_000_000L);
            peer.send(packet(5, own));
            DatagramPacket received = packet(10);
            own.receive(received);
            assertThat(received.getLength()).isEqualTo(5);
            assertThatThrownBy(() -> own.setSoTimeout(-1)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void socketAndItsChannelShareTheirState(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel channel = channels.open();
            DatagramSocket own = channel.socket();
            assertThat(own).isSameAs(channel.socket());
            assertThat(own.getChannel()).isSameAs(channel);
            assertThat(own.isBound()).isFalse();
            assertThat(own.getLocalPort()).isZero();
            assertThat(own.getLocalSocketAddress()).isNull();
            assertThat(own.getLocalAddress().isAnyLocalAddress()).isTrue();
            channel.bind(new InetSocketAddress(channels.address, 0));
            assertThat(own.isBound()).isTrue();
            assertThat(own.getLocalSocketAddress()).isEqualTo(channel.getLocalAddress());
            assertThat(own.getLocalAddress()).isEqualTo(channels.address);
            assertThat(own.isConnected()).isFalse();
            assertThat(own.getPort()).isEqualTo(-1);
            assertThat(own.getInetAddress()).isNull();
            assertThat(own.getRemoteSocketAddress()).isNull();
            DatagramChannel peer = channels.bound();
            own.connect(peer.getLocalAddress());
            assertThat(channel.isConnected()).isTrue();
            assertThat(own.isConnected()).isTrue();
            assertThat(own.getRemoteSocketAddress()).isEqualTo(channel.getRemoteAddress());
            own.disconnect();
            assertThat(channel.isConnected()).isFalse();
            channel.connect(peer.getLocalAddress());
            assertThat(own.getPort()).isEqualTo(((InetSocketAddress) peer.getLocalAddress()).getPort());
            channel.configureBlocking(false);
            assertThatThrownBy(() -> own.receive(packet(1))).isInstanceOf(IllegalBlockingModeException.class);
            assertThatThrownBy(() -> own.send(packet(1, peer.socket())))
                    .isInstanceOf(IllegalBlockingModeException.class);
            own.close();
            assertThat(channel.isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void connectedSocketFillsInAddressesAndCanBeReconnected(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramSocket own = channels.bound().socket();
            DatagramSocket first = channels.bound().socket();
            DatagramSocket second = channels.bound().socket();
            assertThatThrownBy(() -> own.send(packet(1))).isInstanceOf(IllegalArgumentException.class);
            own.connect(first.getLocalSocketAddress());
            own.connect(second.getLocalAddress(), second.getLocalPort());
            DatagramPacket toPeer = packet(4);
            own.send(toPeer);
            assertThat(toPeer.getSocketAddress()).isEqualTo(second.getLocalSocketAddress());
            DatagramPacket received = packet(10);
            second.receive(received);
            assertThat(received.getLength()).isEqualTo(4);
            assertThatThrownBy(() -> own.send(packet(1, first))).isInstanceOf(IllegalArgumentException.class);
            own.connect(channels.nobody());
            own.send(packet(1));
            assertThatThrownBy(() -> own.receive(packet(1))).isInstanceOf(PortUnreachableException.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void socketRefusesAddressesWithExceptionsOfJavaNet(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramSocket own = channels.open().socket();
            UnixDomainSocketAddress other = UnixDomainSocketAddress.of("socket");
            InetSocketAddress unresolved = InetSocketAddress.createUnresolved("nowhere.invalid", 5);
            assertThatThrownBy(() -> own.bind(other)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> own.connect(other)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> own.connect(null)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> own.connect(null, 5)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> own.bind(unresolved)).isInstanceOf(SocketException.class);
            assertThatThrownBy(() -> own.connect(unresolved)).isInstanceOf(SocketException.class);
            InetAddress ipv6 = InetAddress.ofLiteral("::1");
            assertThatThrownBy(() -> own.bind(new InetSocketAddress(ipv6, 0))).isInstanceOf(SocketException.class);
            assertThatThrownBy(() -> own.connect(ipv6, 5)).isInstanceOf(UncheckedIOException.class);
            own.bind(null);
            assertThatThrownBy(() -> own.bind(null)).isInstanceOf(SocketException.class);
            DatagramPacket tooLong = new DatagramPacket(new byte[65_508], 65_508, channels.address, 5);
            assertThatThrownBy(() -> own.send(tooLong)).hasMessageStartingWith("Message too long");
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void socketAndItsChannelShareTheirOptions(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel channel = channels.open();
            DatagramSocket own = channel.socket();
            own.setSendBufferSize(40_000);
            own.setReceiveBufferSize(50_000);
            own.setReuseAddress(true);
            own.setTrafficClass(0x10);
            assertThat(own.getSendBufferSize()).isEqualTo(channel.getOption(StandardSocketOptions.SO_SNDBUF));
            assertThat(own.getReceiveBufferSize()).isEqualTo(channel.getOption(StandardSocketOptions.SO_RCVBUF));
            assertThat(own.getReuseAddress()).isTrue();
            assertThat(own.getTrafficClass()).isEqualTo(0x10);
            own.setOption(StandardSocketOptions.IP_TOS, 0x20);
            assertThat(own.getOption(StandardSocketOptions.IP_TOS)).isEqualTo(0x20);
            assertThat(own.supportedOptions()).isEqualTo(channel.supportedOptions());
            assertThat(own.getBroadcast()).isFalse();
            own.setBroadcast(false);
            assertThatThrownBy(() -> own.setSendBufferSize(0)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> own.setReceiveBufferSize(-1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> own.setOption(StandardSocketOptions.TCP_NODELAY, true))
                    .isInstanceOf(UnsupportedOperationException.class);
        }
    }

    @Test
    void rdmaSocketSupportsNeitherGroupsNorBroadcasts() throws IOException {
        try (DatagramChannels channels = new DatagramChannels(Kind.RDMA)) {
            DatagramSocket own = channels.open().socket();
            NetworkInterface loopback = NetworkInterface.getByInetAddress(InetAddress.ofLiteral("127.0.0.1"));
            InetSocketAddress group = new InetSocketAddress(InetAddress.ofLiteral("239.1.2.3"), 0);
            assertThatThrownBy(() -> own.joinGroup(group, loopback)).hasMessageContaining("do not support multicast");
            assertThatThrownBy(() -> own.leaveGroup(group, loopback)).hasMessageContaining("do not support multicast");
            assertThatThrownBy(() -> own.setBroadcast(true)).hasMessageContaining("do not support broadcast");
        }
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void closedSocketKeepsItsStateAndRemoteAddress(Kind kind) throws IOException {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            DatagramChannel channel = channels.bound();
            DatagramSocket own = channel.socket();
            DatagramSocket peer = channels.bound().socket();
            own.connect(peer.getLocalSocketAddress());
            channel.close();
            assertThat(own.isClosed()).isTrue();
            assertThat(own.isBound()).isTrue();
            assertThat(own.isConnected()).isTrue();
            assertThat(own.getRemoteSocketAddress()).isEqualTo(peer.getLocalSocketAddress());
            assertThat(own.getLocalPort()).isEqualTo(-1);
            assertThat(own.getLocalAddress()).isNull();
            assertThat(own.getLocalSocketAddress()).isNull();
            ThrowingCallable[] calls = {
                () -> own.send(packet(1, peer)),
                () -> own.receive(packet(1)),
                () -> own.bind(null),
                () -> own.setSoTimeout(1),
                own::getSoTimeout,
                own::getBroadcast,
                own::getReuseAddress,
                () -> own.setTrafficClass(0)
            };
            for (ThrowingCallable call : calls) {
                assertThatThrownBy(call).isInstanceOf(SocketException.class);
            }
            own.connect(peer.getLocalSocketAddress());
            own.disconnect();
            own.close();
        }
    }

    @ParameterizedTest
    @CsvSource({"RDMA, false", "RDMA, true", "UDP, false", "UDP, true"})
    void closeAndInterruptEndABlockedReceive(Kind kind, boolean virtual) throws Exception {
        try (DatagramChannels channels = new DatagramChannels(kind)) {
            for (boolean interrupting : new boolean[] {false, true}) {
                DatagramSocket own = channels.bound().socket();
                CompletableFuture<Throwable> end = new CompletableFuture<>();
                Thread.Builder builder =
                        virtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
                Thread thread = builder.start(() -> {
                    try {
                        own.receive(packet(10));
                        end.completeExceptionally(new AssertionError("it did not wait"));
                    } catch (IOException | RuntimeException e) {
                        end.complete(e);
                    }
                });
                BlockedThread.await(thread);
                assertThat(end).isNotDone();
                if (interrupting) {
                    thread.interrupt();
                    assertThat(end.get(10, TimeUnit.SECONDS)).isInstanceOf(ClosedByInterruptException.class);
                } else {
                    own.close();
                    assertThat(end.get(10, TimeUnit.SECONDS)).isInstanceOf(SocketException.class);
                }
                assertThat(own.isClosed()).isTrue();
            }
        }
    }
}
