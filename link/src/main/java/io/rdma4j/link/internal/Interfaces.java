package io.rdma4j.link.internal;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import org.jspecify.annotations.Nullable;

/** Facts about the network interface that an address belongs to. */
public final class Interfaces {
    /** What an interface carries that does not say: Ethernet's. */
    private static final int USUAL_MTU_BYTES = 1500;

    private Interfaces() {}

    /**
     * Largest IP packet of the interface that has {@code address}; all of 127/8 belongs to the loopback interface.
     *
     * @return the MTU in bytes, 1500 where the system does not tell
     */
    public static int mtuBytes(InetAddress address) {
        try {
            NetworkInterface network = NetworkInterface.getByInetAddress(address);
            if (network == null && address.isLoopbackAddress()) {
                network = loopback();
            }
            int mtu = network == null ? 0 : network.getMTU();
            return mtu > 0 ? mtu : USUAL_MTU_BYTES;
        } catch (SocketException e) {
            // The interface went away between the two questions; the link will say so when it is used.
            return USUAL_MTU_BYTES;
        }
    }

    private static @Nullable NetworkInterface loopback() throws SocketException {
        for (NetworkInterface network : NetworkInterface.networkInterfaces().toList()) {
            if (network.isLoopback()) {
                return network;
            }
        }
        return null;
    }
}
