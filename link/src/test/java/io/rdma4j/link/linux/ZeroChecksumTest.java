package io.rdma4j.link.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.LinkSets;
import io.rdma4j.link.ReceiveBurst;
import io.rdma4j.link.internal.GidAddresses;
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

/** What each kind of link hears of a sender that, like Linux' kernel device, sends no UDP checksum on IPv6. */
@Timeout(30)
@EnabledOnOs(OS.LINUX)
class ZeroChecksumTest {
    private static final InetAddress LOOPBACK = Inet6Address.ofLiteral("::1");

    @BeforeEach
    void needsIpv6() throws IOException {
        assumeTrue(NetworkInterface.getByInetAddress(LOOPBACK) != null);
    }

    @Test
    void linuxHearsFramesWithoutChecksum() throws IOException {
        try (LinkSet set = LinkSets.open("linux")) {
            assertThat(hears(set)).isTrue();
        }
    }

    @Test
    void whatANioLinkSaysOfItselfIsWhatItDoes() throws IOException {
        try (LinkSet set = LinkSets.open("nio")) {
            assertThat(hears(set)).isFalse();
        }
    }

    /** Whether a frame without checksum arrives, checked against the link's own word and with one that has a checksum. */
    private static boolean hears(LinkSet set) throws IOException {
        ReceiveBurst burst = new ReceiveBurst(2);
        int arrived = 0;
        try (LinuxLinkSet senders = new LinuxLinkSet();
                Link link = set.openUdp(LOOPBACK, 0)) {
            sendDatagram(senders, link, 1);
            sendDatagram(senders, link, 0);
            for (boolean last = false; !last; ) {
                set.await(1_000_000_000);
                int count = link.poll(burst);
                arrived += count;
                last = count == 0 || burst.frame(count - 1).length == 20;
            }
            assertThat(arrived == 2).isEqualTo(link.capabilities().receivesZeroChecksum());
            assertThat(link.statistics().receivedFrames.sum()).isEqualTo(arrived);
        }
        return arrived == 2;
    }

    /** Sends 21 bytes without, or 20 with a checksum. */
    private static void sendDatagram(LinuxLinkSet set, Link to, int noChecksum) throws IOException {
        Socket socket = Socket.open(set, Posix.AF_INET6, Posix.SOCK_DGRAM);
        socket.require(Posix.SOL_UDP, Posix.UDP_NO_CHECK6_TX, noChecksum, "UDP_NO_CHECK6_TX");
        MemorySegment name = Arena.ofAuto().allocate(SocketAddresses.IPV6_BYTES, 8);
        int bytes = SocketAddresses.write(
                name,
                GidAddresses.high(LOOPBACK),
                GidAddresses.low(LOOPBACK),
                0,
                to.localAddress().getPort());
        MemorySegment data = Arena.ofAuto().allocate(64);
        assertThat(Posix.sendto(socket.errno, socket.fd, data, 20 + noChecksum, name, bytes))
                .isEqualTo(20 + noChecksum);
        socket.close();
    }
}
