package io.rdma4j.link;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Which network interface an address of this host belongs to, and facts about it. Thread safe. */
public final class Interfaces {
    /** What an interface carries that does not say: Ethernet's. */
    private static final int USUAL_MTU_BYTES = 1500;

    /** The message by which Java tells a host without addresses from one that does not list its interfaces. */
    private static final String NONE = "No network interfaces configured";

    private static final InterfaceTable TABLE = InterfaceTable.ofSystem();

    private Interfaces() {}

    /**
     * The network interfaces that have an address; none is no failure, unlike in Java.
     *
     * @throws SocketException if the system does not list its interfaces
     */
    public static List<NetworkInterface> all() throws SocketException {
        try {
            return NetworkInterface.networkInterfaces().toList();
        } catch (SocketException e) {
            if (NONE.equals(e.getMessage())) {
                return List.of();
            }
            throw e;
        }
    }

    /**
     * What {@link #find} finds, as it was at most a tenth of a second ago; an interface or address that is new is found at
     * once. For whoever asks often.
     *
     * @throws SocketException if the system does not list its interfaces
     */
    public static @Nullable InterfaceView recent(InetAddress address) throws SocketException {
        return TABLE.find(address);
    }

    /**
     * The interface of a name, as it was at most a tenth of a second ago; null if there is none, or it has no address.
     *
     * @throws SocketException if the system does not list its interfaces
     */
    public static @Nullable InterfaceView recent(String name) throws SocketException {
        return TABLE.named(name);
    }

    /**
     * Returns the interfaces that have an address, as they are now.
     *
     * @throws SocketException if the system does not list its interfaces
     */
    public static List<InterfaceView> views() throws SocketException {
        List<InterfaceView> views = new ArrayList<>();
        all().forEach(network -> views.add(new InterfaceView(new InterfaceView.JavaInterface(network))));
        return views;
    }

    /**
     * Returns the interface of a name as it is now, or null if there is none or it has no address.
     *
     * @throws SocketException if the system does not list its interfaces
     */
    public static @Nullable InterfaceView view(String name) throws SocketException {
        NetworkInterface network = NetworkInterface.getByName(name);
        return network == null ? null : new InterfaceView(new InterfaceView.JavaInterface(network));
    }

    /**
     * Whether an interface that has an address is up, or was a tenth of a second ago.
     *
     * @throws SocketException if the system does not list its interfaces
     */
    public static boolean isAnyUp() throws SocketException {
        return TABLE.isAnyUp();
    }

    /** Something has changed: {@link #recent} looks again. */
    public static void forget() {
        TABLE.forget();
    }

    /** Interface index of an IPv6 link-local address, else 0: other addresses mean the same whatever their scope. */
    public static int scope(InetAddress address) {
        return address instanceof Inet6Address six && six.isLinkLocalAddress() ? six.getScopeId() : 0;
    }

    /** Whether two addresses are the same one: of link-local addresses the link counts, which Java does not compare. */
    public static boolean areSame(InetAddress a, InetAddress b) {
        return a.equals(b) && scope(a) == scope(b);
    }

    /**
     * Largest IP packet of the interface that has {@code address}; all of 127/8 belongs to the loopback interface.
     *
     * @return the MTU in bytes, 1500 where the system does not tell
     */
    public static int mtuBytes(InetAddress address) {
        try {
            NetworkInterface network = find(address);
            int mtu = network == null ? 0 : network.getMTU();
            return mtu > 0 ? mtu : USUAL_MTU_BYTES;
        } catch (SocketException e) {
            // The interface went away between the two questions; the link will say so when it is used.
            return USUAL_MTU_BYTES;
        }
    }

    /**
     * The interface that has {@code address}.
     *
     * @throws IOException if none has it
     */
    public static NetworkInterface of(InetAddress address) throws IOException {
        NetworkInterface network = find(address);
        if (network == null) {
            throw new IOException("no network interface of this host has the address " + address.getHostAddress());
        }
        return network;
    }

    /**
     * The interface that has {@code address}, or null; all of 127/8 belongs to the loopback interface, and a link-local
     * address to the interface that its scope names: several can have the same one, as a VLAN and what is below it do.
     */
    public static @Nullable NetworkInterface find(InetAddress address) throws SocketException {
        NetworkInterface network = NetworkInterface.getByInetAddress(address);
        return network == null && address.isLoopbackAddress() ? loopback() : network;
    }

    private static @Nullable NetworkInterface loopback() throws SocketException {
        for (NetworkInterface network : all()) {
            if (network.isLoopback()) {
                return network;
            }
        }
        return null;
    }
}
