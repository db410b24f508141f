package io.rdma4j.link.host;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the network interface of a local address, and its properties. Thread safe. */
public final class Interfaces {
    /** The MTU assumed for an address that no interface has: the MTU of Ethernet. */
    private static final int USUAL_MTU_BYTES = 1500;

    /**
     * The exception message by which Java distinguishes a host without addresses from one that cannot list its
     * interfaces.
     */
    private static final String NONE = "No network interfaces configured";

    private static final InterfaceTable TABLE = InterfaceTable.ofSystem();

    private Interfaces() {}

    /**
     * Returns the network interfaces that have an address. If there are none, the list is empty, whereas Java's own
     * method throws.
     *
     * @throws SocketException if the system cannot list its interfaces
     */
    public static List<NetworkInterface> all() throws SocketException {
        List<NetworkInterface> listed = list();
        if (Ipv6Addresses.mayBeMissing(listed)) {
            Ipv6Addresses.requireDescriptors();
            return list(); // the addresses are new, or Java has no IPv6
        }
        return listed;
    }

    private static List<NetworkInterface> list() throws SocketException {
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
     * Returns the addresses of an interface, IPv4 before IPv6, and the IPv4 ones in the order in which they were added, like the
     * kernel's list. Java prepends each to its list, and promises no order.
     */
    static List<InetAddress> addresses(NetworkInterface network) {
        List<InetAddress> oldestFirst =
                new ArrayList<>(network.inetAddresses().toList().reversed());
        oldestFirst.sort(Comparator.comparing(address -> !(address instanceof Inet4Address)));
        return oldestFirst;
    }

    /**
     * Returns the result of {@link #find} as of at most a tenth of a second ago. A new interface or address is found immediately.
     * Meant for frequent lookups.
     *
     * @return the interface, or null if none has the address
     * @throws SocketException if the system cannot list its interfaces
     */
    public static @Nullable InterfaceView recent(InetAddress address) throws SocketException {
        return TABLE.find(address);
    }

    /**
     * Returns the interface of the given name, as of at most a tenth of a second ago.
     *
     * @return the interface, or null if there is none or it has no address
     * @throws SocketException if the system cannot list its interfaces
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
     * Returns the interface with a name as it is now, or null if there is none or it has no address.
     *
     * @throws SocketException if the system does not list its interfaces
     */
    public static @Nullable InterfaceView view(String name) throws SocketException {
        for (NetworkInterface network : all()) {
            if (network.getName().equals(name)) {
                return new InterfaceView(new InterfaceView.JavaInterface(network));
            }
        }
        return null;
    }

    /**
     * Returns whether any interface that has an address is up, as of at most a tenth of a second ago.
     *
     * @throws SocketException if the system cannot list its interfaces
     */
    public static boolean isAnyUp() throws SocketException {
        return TABLE.isAnyUp();
    }

    /** Discards cached results after a change, so that {@link #recent} reads the interfaces again. */
    public static void invalidateCache() {
        TABLE.invalidate();
    }

    /** Returns the interface index of an IPv6 link-local address, otherwise 0. The scope of other addresses is meaningless. */
    public static int scope(InetAddress address) {
        return address instanceof Inet6Address six && six.isLinkLocalAddress() ? six.getScopeId() : 0;
    }

    /**
     * Returns whether two addresses are the same. Unlike {@link InetAddress#equals}, this compares the scopes of
     * link-local addresses.
     */
    public static boolean areSame(InetAddress a, InetAddress b) {
        return a.equals(b) && scope(a) == scope(b);
    }

    /**
     * Returns the MTU of the interface that has {@code address}. All of 127/8 belongs to the loopback interface.
     *
     * @return the size of the largest IP packet in bytes, 1500 if no interface has the address
     * @throws SocketException if the interface was removed meanwhile, or this process lacks descriptors
     */
    public static int mtuBytes(InetAddress address) throws SocketException {
        return mtuBytes(find(address));
    }

    /**
     * Returns the MTU of an interface in bytes, 1500 without an interface.
     *
     * @throws SocketException if the interface was removed, or this process lacks descriptors
     */
    public static int mtuBytes(@Nullable NetworkInterface network) throws SocketException {
        int mtu = network == null ? 0 : network.getMTU();
        return mtu > 0 ? mtu : USUAL_MTU_BYTES;
    }

    /**
     * Returns the interface that has {@code address}.
     *
     * @throws IOException if no interface has it
     */
    public static NetworkInterface of(InetAddress address) throws IOException {
        NetworkInterface network = find(address);
        if (network == null) {
            throw new IOException("no network interface of this host has the address " + address.getHostAddress());
        }
        return network;
    }

    /**
     * Returns the interface that has {@code address}, or null. All of 127/8 belongs to the loopback interface. A link-local
     * address belongs to the interface that its scope names, since several interfaces can have the same one, like a VLAN and its
     * underlying interface.
     *
     * @throws SocketException if the system cannot list its interfaces
     */
    public static @Nullable NetworkInterface find(InetAddress address) throws SocketException {
        NetworkInterface network = NetworkInterface.getByInetAddress(address);
        if (network == null && address.isLoopbackAddress()) {
            return loopback();
        }
        if (network == null && address instanceof Inet6Address) {
            all(); // without a descriptor, Java finds no IPv6 address and reports no error
            return NetworkInterface.getByInetAddress(address);
        }
        return network;
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
