package io.rdma4j.cm.host;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import org.jspecify.annotations.Nullable;

/** Finds the local address that the operating system would use to reach a destination. Thread safe. */
public final class RouteLookup {
    /** RoCEv2's port. No packet is sent to it. */
    private static final int ROCE_PORT = 4791;

    private static final RouteCache CACHE = new RouteCache(System::nanoTime);

    private RouteLookup() {}

    /** Discards cached results after a change, so that the next lookup queries the system. */
    public static void forget() {
        CACHE.clear();
    }

    /**
     * Returns the local address from which the operating system would send to a destination. The result is at most a
     * tenth of a second old.
     *
     * @param operation the C name of the calling operation, for messages
     * @param source local address that must be used, or null for the system's choice
     * @param destination destination address, not a wildcard
     * @throws RdmaException {@code ENETUNREACH} if the host has no route; {@code EMFILE} if this process lacks
     *     descriptors for the lookup
     */
    public static InetAddress sourceFor(String operation, @Nullable InetAddress source, InetAddress destination) {
        return CACHE.find(source, destination, () -> query(operation, source, destination));
    }

    private static InetAddress query(String operation, @Nullable InetAddress source, InetAddress destination) {
        // Not a DatagramChannel: the JVM may open channels through a provider that uses this class.
        try (DatagramSocket socket = new DatagramSocket(source == null ? null : new InetSocketAddress(source, 0))) {
            socket.setBroadcast(false); // so that the system refuses broadcast addresses
            socket.connect(new InetSocketAddress(destination, ROCE_PORT));
            InetAddress local = socket.getLocalAddress();
            return local.isLinkLocalAddress() ? local : ofBytes(local.getAddress()); // the latter without a scope
        } catch (SocketException | UncheckedIOException noRoute) {
            if (DescriptorShortage.isCauseOf(noRoute)) {
                throw new RdmaException(
                        operation,
                        Errno.EMFILE,
                        "look up the route to " + AddressText.of(destination) + ": " + noRoute.getMessage(),
                        DescriptorShortage.HINT,
                        noRoute);
            }
            throw new RdmaException(
                    operation,
                    Errno.ENETUNREACH,
                    "this host has no route " + (source == null ? "" : "from " + AddressText.of(source) + " ") + "to "
                            + AddressText.of(destination) + " (" + reason(noRoute, destination) + ")",
                    "Check the address and the routing table",
                    noRoute);
        }
    }

    /** Returns the reason why there is no route. Without IPv6, Java only opens IPv4 sockets. */
    private static String reason(Exception noRoute, InetAddress destination) {
        String message = String.valueOf(noRoute.getMessage());
        boolean isWithoutIpv6 = destination instanceof Inet6Address && message.equals("Unsupported address type");
        return isWithoutIpv6 ? "IPv6 not available" : message;
    }

    /** Returns the IPv4 wildcard, {@code 0.0.0.0}. */
    public static InetAddress anyIpv4() {
        return ofBytes(new byte[4]);
    }

    /** Returns the IPv6 wildcard, {@code ::}. */
    public static InetAddress anyIpv6() {
        return ofBytes(new byte[16]);
    }

    /** Returns the loopback address that a wildcard destination means, in the same family. */
    public static InetAddress loopbackOf(InetAddress wildcard) {
        byte[] bytes = wildcard.getAddress();
        if (bytes.length == 4) {
            bytes[0] = 127;
        }
        bytes[bytes.length - 1] = 1;
        return ofBytes(bytes);
    }

    private static InetAddress ofBytes(byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (IOException impossible) {
            throw new AssertionError("4 and 16 bytes are always an address", impossible);
        }
    }
}
