package io.rdma4j.sharing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Each address has one socket file, through which the processes that share it find its owner. */
class SocketNameTest {
    private static final byte[] LINK_LOCAL = bytes("fe80::1");
    private static final byte[] GLOBAL = bytes("2001:db8::1");

    private static byte[] bytes(String text) {
        return InetAddress.ofLiteral(text).getAddress();
    }

    private static NetworkInterface someInterface() throws SocketException {
        return NetworkInterface.networkInterfaces().findFirst().orElseThrow();
    }

    /** Returns an interface with a link-local address, for which Java knows the scope. */
    private static Optional<NetworkInterface> interfaceWithScope() throws SocketException {
        return NetworkInterface.networkInterfaces()
                .filter(each -> each.inetAddresses()
                        .anyMatch(address -> address instanceof Inet6Address && address.isLinkLocalAddress()))
                .findFirst();
    }

    @Test
    void linkLocalAddressHasOneSocketNameInAllFormsOfItsScope() throws SocketException, UnknownHostException {
        Optional<NetworkInterface> found = interfaceWithScope();
        assumeTrue(found.isPresent(), "no interface has a link-local address");
        NetworkInterface network = found.get();
        Inet6Address byName = Inet6Address.getByAddress(null, LINK_LOCAL, network);
        Inet6Address byNumber = Inet6Address.getByAddress(null, LINK_LOCAL, network.getIndex());

        assertThat(byName.getHostAddress()).isNotEqualTo(byNumber.getHostAddress());
        assertThat(RunDirectory.socketName(byName)).isEqualTo(RunDirectory.socketName(byNumber));
    }

    @Test
    void linkLocalAddressHasASocketNameForEachScope() throws UnknownHostException {
        Inet6Address first = Inet6Address.getByAddress(null, LINK_LOCAL, 1);
        Inet6Address second = Inet6Address.getByAddress(null, LINK_LOCAL, 2);

        assertThat(RunDirectory.socketName(first)).isNotEqualTo(RunDirectory.socketName(second));
    }

    @Test
    void globalAddressHasOneSocketNameWithAndWithoutScope() throws SocketException, UnknownHostException {
        Inet6Address listed = Inet6Address.getByAddress(null, GLOBAL, someInterface());

        assertThat(RunDirectory.socketName(listed))
                .isEqualTo(RunDirectory.socketName(InetAddress.ofLiteral("2001:db8::1")));
    }
}
