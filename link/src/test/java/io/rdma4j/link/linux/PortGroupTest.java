package io.rdma4j.link.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** What becomes of a port when the system does not let it be shared. */
@Timeout(30)
@EnabledOnOs(OS.LINUX)
class PortGroupTest {
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("127.0.0.24");
    private static final int SO_LOCK_FILTER = 44;

    private final MemorySegment name = Arena.ofAuto().allocate(SocketAddresses.IPV6_BYTES, 8);

    private Socket bound(LinuxLinkSet set) throws IOException {
        Socket socket = Socket.open(set, Posix.AF_INET, Posix.SOCK_DGRAM);
        assertThat(socket.bind(name, ADDRESS, 0)).isZero();
        MemorySegment length = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_INT, SocketAddresses.IPV6_BYTES);
        assertThat(Posix.getsockname(socket.errno, socket.fd, name, length)).isZero();
        return socket;
    }

    /** A socket whose filters are locked refuses the program, as a system without such programs does. */
    @Test
    void aRefusedProgramLeavesThePortToTheFirstAlone() throws IOException {
        try (LinuxLinkSet set = new LinuxLinkSet()) {
            Socket first = bound(set);
            int number = SocketAddresses.port(name, 0);
            PortGroup port = new PortGroup(first, new InetSocketAddress(ADDRESS, number));
            first.require(Posix.SOL_SOCKET, SO_LOCK_FILTER, 1, "SO_LOCK_FILTER");
            Socket further = Socket.open(set, Posix.AF_INET, Posix.SOCK_DGRAM);
            assertThat(port.join(further, 1, 9)).isFalse();
            further.close();
            assertIsAlone(set, first, number);
            first.close();
        }
    }

    @Test
    void aRefusedBindLeavesThePortToTheFirstAlone() throws IOException {
        try (LinuxLinkSet set = new LinuxLinkSet()) {
            Socket first = bound(set);
            int number = SocketAddresses.port(name, 0);
            PortGroup port = new PortGroup(first, new InetSocketAddress(ADDRESS, number));
            Socket further = bound(set);
            assertThat(port.join(further, 1, 9)).isFalse();
            further.close();
            assertIsAlone(set, first, number);
            first.close();
        }
    }

    /** Frames come to the first, and even a socket that would share the port does not get it. */
    private void assertIsAlone(LinuxLinkSet set, Socket first, int number) throws IOException {
        assertThat(first.closed).isFalse();
        Socket willing = Socket.open(set, Posix.AF_INET, Posix.SOCK_DGRAM);
        assertThat(willing.option(Posix.SOL_SOCKET, Posix.SO_REUSEPORT, 1)).isTrue();
        assertThat(willing.bind(name, ADDRESS, number)).isNegative();
        int bytes = SocketAddresses.IPV4_BYTES;
        MemorySegment data = Arena.ofAuto().allocate(64);
        for (int i = 0; i < 16; i++) {
            assertThat(Posix.sendto(willing.errno, willing.fd, data, 16, name, bytes))
                    .isEqualTo(16);
            assertThat(Posix.recv(first.errno, first.fd, data.address(), 64)).isEqualTo(16);
        }
        willing.close();
    }
}
