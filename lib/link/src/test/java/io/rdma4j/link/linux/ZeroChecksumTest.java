package io.rdma4j.link.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.link.system.LinkSets;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** Checks which kinds of link receive frames without a UDP checksum on IPv6, as Linux's kernel device sends them. */
@Timeout(30)
@EnabledOnOs(OS.LINUX)
class ZeroChecksumTest {
    private static final InetAddress LOOPBACK = Inet6Address.ofLiteral("::1");

    @BeforeEach
    void needsIpv6() throws IOException {
        assumeTrue(NetworkInterface.getByInetAddress(LOOPBACK) != null);
    }

    @Test
    void linuxReceivesFramesWithoutChecksum() throws IOException {
        try (LinkSet set = LinkSets.open("linux")) {
            assertThat(receivesWithoutChecksum(set)).isTrue();
        }
    }

    @Test
    void nioDropsFramesWithoutChecksumAsItsCapabilitiesReport() throws IOException {
        try (LinkSet set = LinkSets.open("nio")) {
            assertThat(receivesWithoutChecksum(set)).isFalse();
        }
    }

    /**
     * Returns whether a frame without a checksum is received. The result is checked against the link's capabilities. A
     * frame with a checksum marks the end.
     */
    private static boolean receivesWithoutChecksum(LinkSet set) throws IOException {
        ReceiveBurst burst = new ReceiveBurst(2);
        int received = 0;
        try (LinuxLinkSet senders = new LinuxLinkSet();
                Link link = set.openUdp(LOOPBACK, 0)) {
            sendDatagram(senders, link, 1);
            sendDatagram(senders, link, 0);
            for (boolean last = false; !last; ) {
                set.await(1_000_000_000);
                int count = link.poll(burst);
                received += count;
                last = count == 0 || burst.frame(count - 1).length == 20;
            }
            assertThat(received == 2).isEqualTo(link.capabilities().receivesZeroChecksum());
            assertThat(link.statistics().receivedFrames.sum()).isEqualTo(received);
        }
        return received == 2;
    }

    /** Sends 21 bytes without a checksum, or 20 bytes with one. */
    private static void sendDatagram(LinuxLinkSet set, Link receiver, int noChecksum) throws IOException {
        Socket socket = Socket.open(set, Posix.AF_INET6, Posix.SOCK_DGRAM);
        socket.require(Posix.SOL_UDP, Posix.UDP_NO_CHECK6_TX, noChecksum, "UDP_NO_CHECK6_TX");
        MemorySegment name = Arena.ofAuto().allocate(SocketAddresses.IPV6_BYTES, 8);
        int bytes = SocketAddresses.write(
                name,
                GidAddresses.high(LOOPBACK),
                GidAddresses.low(LOOPBACK),
                0,
                receiver.localAddress().getPort());
        MemorySegment data = Arena.ofAuto().allocate(64);
        assertThat(Posix.sendto(socket.errno, socket.fd, data.address(), 20 + noChecksum, name, bytes))
                .isEqualTo(20 + noChecksum);
        socket.close();
    }
}
