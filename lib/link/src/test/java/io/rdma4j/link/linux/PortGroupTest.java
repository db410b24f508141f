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

/** The state of a port after the system refuses to share it. */
@Timeout(30)
@EnabledOnOs(OS.LINUX)
class PortGroupTest {
    private static final InetAddress ADDRESS = InetAddress.ofLiteral("127.0.0.24");
    private static final int SO_LOCK_FILTER = 44;

    private final MemorySegment name = Arena.ofAuto().allocate(SocketAddresses.IPV6_BYTES, 8);

    private Socket openBound(LinuxLinkSet set) throws IOException {
        Socket socket = Socket.open(set, Posix.AF_INET, Posix.SOCK_DGRAM);
        assertThat(socket.bind(name, ADDRESS, 0)).isZero();
        MemorySegment length = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_INT, SocketAddresses.IPV6_BYTES);
        assertThat(Posix.getsockname(socket.errno, socket.fd, name, length)).isZero();
        return socket;
    }

    /** A socket with locked filters refuses the program, as does a system without support for it. */
    @Test
    void refusedProgramLeavesThePortToTheFirstSocket() throws IOException {
        try (LinuxLinkSet set = new LinuxLinkSet()) {
            Socket first = openBound(set);
            int portNumber = SocketAddresses.port(name, 0);
            PortGroup port = new PortGroup(first, new InetSocketAddress(ADDRESS, portNumber), false);
            first.require(Posix.SOL_SOCKET, SO_LOCK_FILTER, 1, "SO_LOCK_FILTER");
            Socket second = Socket.open(set, Posix.AF_INET, Posix.SOCK_DGRAM);
            assertThat(port.join(second, 1, 9)).isFalse();
            second.close();
            assertIsAlone(set, first, portNumber);
            first.close();
        }
    }

    @Test
    void refusedBindLeavesThePortToTheFirstSocket() throws IOException {
        try (LinuxLinkSet set = new LinuxLinkSet()) {
            Socket first = openBound(set);
            int portNumber = SocketAddresses.port(name, 0);
            PortGroup port = new PortGroup(first, new InetSocketAddress(ADDRESS, portNumber), false);
            Socket second = openBound(set);
            assertThat(port.join(second, 1, 9)).isFalse();
            second.close();
            assertIsAlone(set, first, portNumber);
            first.close();
        }
    }

    /** Frames are delivered to the first socket, and a socket with SO_REUSEPORT cannot bind the port either. */
    private void assertIsAlone(LinuxLinkSet set, Socket first, int portNumber) throws IOException {
        assertThat(first.closed).isFalse();
        Socket reusing = Socket.open(set, Posix.AF_INET, Posix.SOCK_DGRAM);
        assertThat(reusing.option(Posix.SOL_SOCKET, Posix.SO_REUSEPORT, 1)).isTrue();
        assertThat(reusing.bind(name, ADDRESS, portNumber)).isNegative();
        int bytes = SocketAddresses.IPV4_BYTES;
        MemorySegment data = Arena.ofAuto().allocate(64);
        for (int i = 0; i < 16; i++) {
            assertThat(Posix.sendto(reusing.errno, reusing.fd, data.address(), 16, name, bytes))
                    .isEqualTo(16);
            assertThat(Posix.recv(first.errno, first.fd, data.address(), 64)).isEqualTo(16);
        }
        reusing.close();
    }
}
