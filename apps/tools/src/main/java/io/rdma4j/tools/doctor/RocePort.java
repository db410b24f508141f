package io.rdma4j.tools.doctor;

import java.io.IOException;
import java.net.BindException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnknownHostException;
import java.nio.channels.DatagramChannel;

/** Checks whether RoCEv2's UDP port is available on an address, by binding it briefly. */
final class RocePort {
    private static final int PORT = 4791;

    private RocePort() {}

    static String state(InetAddress address) {
        StandardProtocolFamily family =
                address instanceof Inet6Address ? StandardProtocolFamily.INET6 : StandardProtocolFamily.INET;
        try (DatagramChannel channel = DatagramChannel.open(family)) {
            channel.bind(new InetSocketAddress(address, PORT));
            return "UDP 4791 free";
        } catch (BindException e) {
            return "UDP 4791 in use: by an rdma4j process, which shares it with others of the same user, or by"
                    + " another program or the kernel";
        } catch (IOException | UnsupportedOperationException e) {
            return "UDP 4791 not usable: " + e.getMessage();
        }
    }

    /** Adds the network interface as the scope of a link-local address. Returns other addresses unchanged. */
    static InetAddress withScope(InetAddress address, String networkInterface) {
        if (!(address instanceof Inet6Address) || !address.isLinkLocalAddress()) {
            return address;
        }
        try {
            NetworkInterface found = NetworkInterface.getByName(networkInterface);
            return found == null ? address : Inet6Address.getByAddress(null, address.getAddress(), found);
        } catch (SocketException | UnknownHostException e) {
            return address;
        }
    }
}
