package io.rdma4j.link.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.rdma4j.link.Flow;
import io.rdma4j.link.Link;
import io.rdma4j.link.LinkSet;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.link.system.LinkSets;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Checks the headers that the kernel writes on frames of a link, as received by a raw socket. Requires the permission
 * to open one.
 */
@Timeout(30)
@EnabledOnOs(OS.LINUX)
class HeadersOnTheWireTest {
    private static final int SOCK_RAW = 3;
    private static final int MARK = 0x5ca1ab1e;

    private final SendBurst burst = new SendBurst(Arena.ofAuto(), SendBurst.MAX_FRAME_BYTES);
    private final MemorySegment errno = Posix.newErrno();

    @ParameterizedTest
    @ValueSource(strings = {"nio", "linux"})
    void ipv4FramesHaveIdentificationZeroDontFragmentAndTheirTypeOfService(String kind) throws IOException {
        int raw = Posix.socket(errno, Posix.AF_INET, SOCK_RAW, Posix.SOL_UDP);
        assumeTrue(raw >= 0, "needs the right to open raw sockets");
        InetAddress address = InetAddress.ofLiteral("127.0.0.1");
        try (LinkSet set = LinkSets.open(kind);
                Link link = set.openUdp(address, 0)) {
            for (int i = 0; i < 3; i++) {
                int trafficClass = 32 * i;
                burst.clear();
                burst.destination(GidAddresses.high(address), GidAddresses.low(address), 0, trafficClass);
                burst.destinationPort(link.localAddress().getPort());
                burst.buffer().putInt(0, MARK).putInt(4, i);
                burst.append(100 + i);
                link.send(burst);
                ByteBuffer packet = packet(raw, link.localAddress().getPort(), i);
                assertThat(packet.limit()).isEqualTo(28 + 100 + i);
                assertThat(packet.get(1) & 0xff).isEqualTo(trafficClass);
                assertThat(packet.getShort(4)).as("identification").isZero();
                assertThat(packet.getShort(6)).as("don't fragment, offset 0").isEqualTo((short) 0x4000);
            }
        } finally {
            Posix.close(raw);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"nio", "linux"})
    void multicastFramesHaveIdentificationZeroTheUnicastSourceAndAHopLimitOf64(String kind) throws IOException {
        int raw = Posix.socket(errno, Posix.AF_INET, SOCK_RAW, Posix.SOL_UDP);
        assumeTrue(raw >= 0, "needs the right to open raw sockets");
        InetAddress group = InetAddress.ofLiteral("239.83.77.2");
        try (LinkSet set = LinkSets.open(kind);
                Link link = set.openUdp(InetAddress.ofLiteral("127.0.0.3"), 0);
                Link member =
                        set.openMulticast(group, link.localAddress().getPort(), InetAddress.ofLiteral("127.0.0.1"))) {
            burst.clear();
            burst.destination(GidAddresses.high(group), GidAddresses.low(group), 0, 0);
            burst.destinationPort(member.localAddress().getPort());
            burst.buffer().putInt(0, MARK).putInt(4, 7);
            burst.append(100);
            link.send(burst);
            ByteBuffer packet = packet(raw, member.localAddress().getPort(), 7);
            assertThat(packet.getShort(4)).as("identification").isZero();
            assertThat(packet.getShort(6)).as("don't fragment, offset 0").isEqualTo((short) 0x4000);
            assertThat(packet.get(8)).as("time to live").isEqualTo((byte) 64);
            assertThat(packet.getInt(12)).as("source").isEqualTo(0x7f00_0003);
            assertThat(packet.getInt(16)).as("destination").isEqualTo((int) GidAddresses.low(group));
        } finally {
            Posix.close(raw);
        }
    }

    @Test
    void framesOfAFlowHaveItsSourcePortAndEachBurstItsHopLimit() throws IOException {
        int raw = Posix.socket(errno, Posix.AF_INET, SOCK_RAW, Posix.SOL_UDP);
        assumeTrue(raw >= 0, "needs the right to open raw sockets");
        InetAddress address = InetAddress.ofLiteral("127.0.0.1");
        try (LinkSet set = LinkSets.open("linux");
                Link link = set.openUdp(address, 0);
                Flow flow = Objects.requireNonNull(link.openFlow(0xc144))) {
            int port = link.localAddress().getPort();
            assertThat(flow.sourcePort()).isEqualTo(0xc144);
            for (int i = 0; i < 4; i++) {
                burst.clear();
                burst.destination(GidAddresses.high(address), GidAddresses.low(address), 0, 0);
                burst.destinationPort(port);
                burst.ipHeader(i == 3 ? 0 : 5 + i, 0);
                burst.flow(i == 1 ? null : flow);
                burst.buffer().putInt(0, MARK).putInt(4, i);
                burst.append(100);
                link.send(burst);
                ByteBuffer packet = packet(raw, port, i);
                assertThat(packet.getShort(20) & 0xffff).as("source port").isEqualTo(i == 1 ? port : 0xc144);
                assertThat(packet.get(8)).as("time to live").isEqualTo((byte) (i == 3 ? 64 : 5 + i));
                assertThat(packet.getShort(4)).as("identification").isZero();
            }
        } finally {
            Posix.close(raw);
        }
    }

    /**
     * Returns the packet of frame {@code number}, starting at its IP header, among all UDP packets that the host
     * receives.
     */
    private ByteBuffer packet(int raw, int port, int number) {
        ByteBuffer packet = ByteBuffer.allocateDirect(65536);
        long memory = MemorySegment.ofBuffer(packet).address();
        while (true) {
            int length = Posix.recv(errno, raw, memory, packet.capacity());
            if (length < 36) {
                Thread.onSpinWait();
                continue;
            }
            packet.clear().limit(length);
            boolean ours = (packet.getShort(22) & 0xffff) == port && packet.getInt(28) == MARK;
            if (ours && packet.getInt(32) == number) {
                return packet;
            }
        }
    }
}
