package io.rdma4j.cm.spi;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;

/** Refuses local addresses like Linux, uniformly for Java's API, for providers and for C programs. Thread safe. */
public final class LocalAddresses {
    private LocalAddresses() {}

    /**
     * Returns the refusal of a local address without a device.
     *
     * @param operation the C name of the call
     * @param isOfThisHost true if an interface of this host that is up has the address
     * @return an exception with {@code ENODEV}, or {@code EADDRNOTAVAIL} if this host does not have the address
     */
    public static RdmaException refusal(String operation, InetAddress local, boolean isOfThisHost, String hint) {
        return new RdmaException(
                operation,
                isOfThisHost ? Errno.ENODEV : Errno.EADDRNOTAVAIL,
                (isOfThisHost
                                ? "no RDMA device has the local address "
                                : "no network interface that is up has the address ")
                        + AddressText.of(local),
                hint);
    }

    /** Returns whether an interface of this host that is up has an address. True if the interfaces cannot be listed. */
    public static boolean isOfThisHost(InetAddress address) {
        try {
            NetworkInterface link = NetworkInterface.getByInetAddress(address);
            return address.isLoopbackAddress() || link != null && link.isUp();
        } catch (SocketException unknown) {
            return true;
        }
    }
}
