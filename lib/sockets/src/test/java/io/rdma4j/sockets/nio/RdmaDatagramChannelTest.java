package io.rdma4j.sockets.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.rdma4j.sockets.RdmaSockets;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.BindException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests of datagram channels over RDMA that do not apply to UDP. The other tests are in the conformance suite. */
@Timeout(60)
class RdmaDatagramChannelTest {
    private static DatagramChannel open() throws IOException {
        return RdmaSockets.openDatagramChannel(StandardProtocolFamily.INET);
    }

    private static InetSocketAddress bindAndDrop(InetAddress address) throws IOException {
        DatagramChannel forgotten = open().bind(new InetSocketAddress(address, 0));
        return (InetSocketAddress) Objects.requireNonNull(forgotten.getLocalAddress());
    }

    @Test
    void unreachableChannelIsClosed() throws Exception {
        InetSocketAddress address = bindAndDrop(Loopback.address());
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        boolean isFree = false;
        while (!isFree) {
            System.gc();
            Thread.sleep(20);
            assertThat(System.nanoTime()).isLessThan(deadline);
            try (DatagramChannel next = open().bind(address)) {
                isFree = next.isOpen();
            } catch (BindException taken) {
                isFree = false;
            }
        }
    }

    @Test
    void sizesOfABoundChannelAreFixed() throws IOException {
        try (DatagramChannel channel = open()) {
            channel.setOption(StandardSocketOptions.SO_RCVBUF, 40_000).bind(null);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, 80_000)
                    .setOption(StandardSocketOptions.SO_REUSEADDR, true);
            assertThat(channel.getOption(StandardSocketOptions.SO_RCVBUF)).isEqualTo(40_000);
            assertThat(channel.getOption(StandardSocketOptions.SO_REUSEADDR)).isFalse();
        }
    }

    @Test
    void toStringDescribesTheChannel() throws IOException {
        DatagramChannel channel = open();
        DatagramSocket socket = channel.socket();
        try (channel;
                DatagramChannel peer = open().bind(new InetSocketAddress(Loopback.address(), 0))) {
            assertThat(channel).hasToString("RdmaDatagramChannel[unbound]");
            channel.connect(Objects.requireNonNull(peer.getLocalAddress()));
            assertThat(channel.toString()).contains("local=", "remote=" + peer.getLocalAddress());
            assertThat(socket).hasToString("DatagramSocket[" + channel + "]");
        }
        assertThat(socket).hasToString("DatagramSocket[RdmaDatagramChannel[closed]]");
    }

    /**
     * The UDP socket of the superclass is closed, so the socket must not use inherited methods of
     * {@link DatagramSocket}.
     */
    @Test
    void socketOfAChannelOverridesEveryMethod() throws Exception {
        try (DatagramChannel channel = open()) {
            for (Method each : DatagramSocket.class.getDeclaredMethods()) {
                if (Modifier.isPublic(each.getModifiers()) && !Modifier.isStatic(each.getModifiers())) {
                    assertThat(channel.socket().getClass().getMethod(each.getName(), each.getParameterTypes()))
                            .extracting(Method::getDeclaringClass)
                            .isEqualTo(ChannelDatagramSocket.class);
                }
            }
        }
    }

    @Test
    void broadcastIsRejected() throws IOException {
        try (DatagramChannel channel = open()) {
            InetSocketAddress broadcast = new InetSocketAddress(InetAddress.ofLiteral("255.255.255.255"), 9);
            assertThatThrownBy(() -> channel.send(ByteBuffer.allocate(1), broadcast))
                    .isInstanceOf(SocketException.class);
        }
    }
}
