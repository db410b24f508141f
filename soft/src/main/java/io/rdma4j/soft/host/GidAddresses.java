package io.rdma4j.soft.host;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.link.host.Interfaces;
import io.rdma4j.verbs.Gid;
import java.net.InetAddress;

/** IP addresses in GID form, and their scopes. */
public final class GidAddresses {
    private GidAddresses() {}

    /** Returns the upper half of the GID form. */
    public static long high(InetAddress address) {
        return Gid.of(address).high();
    }

    /** Returns the lower half of the GID form. */
    public static long low(InetAddress address) {
        return Gid.of(address).low();
    }

    /** Returns the interface index of an IPv6 link-local address, else 0. */
    public static int scope(InetAddress address) {
        return Interfaces.scope(address);
    }

    /** Returns the text without host name: {@code 10.0.0.1}, {@code fe80::1%eth0}. */
    public static String text(InetAddress address) {
        return AddressText.of(address);
    }

    /**
     * Returns a file name for an address. It does not depend on the form of the {@link InetAddress}, which may have the
     * interface as a name, as a number, or not at all if the address does not need it.
     */
    public static String fileName(InetAddress address) {
        Gid gid = Gid.of(address);
        String plain = AddressText.of(gid.toInetAddress()).replace(':', '_');
        return gid.isLinkLocal() ? plain + "-" + scope(address) : plain;
    }
}
