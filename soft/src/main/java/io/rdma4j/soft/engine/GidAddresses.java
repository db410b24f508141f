package io.rdma4j.soft.engine;

import io.rdma4j.cm.spi.AddressText;
import io.rdma4j.link.Interfaces;
import io.rdma4j.verbs.Gid;
import java.net.InetAddress;

/** IP addresses in GID form, and their scopes. */
public final class GidAddresses {
    private GidAddresses() {}

    /** Upper half of the GID form. */
    public static long high(InetAddress address) {
        return Gid.of(address).high();
    }

    /** Lower half of the GID form. */
    public static long low(InetAddress address) {
        return Gid.of(address).low();
    }

    /** Interface index of an IPv6 link-local address, else 0. */
    public static int scope(InetAddress address) {
        return Interfaces.scope(address);
    }

    /** Text without host name: {@code 10.0.0.1}, {@code fe80::1%eth0}. */
    public static String text(InetAddress address) {
        return AddressText.of(address);
    }

    /**
     * A name for files, the same for all forms in which Java has an address: with the name of the interface, its number,
     * or neither where the address needs none.
     */
    static String fileName(InetAddress address) {
        Gid gid = Gid.of(address);
        String plain = AddressText.of(gid.toInetAddress()).replace(':', '_');
        return gid.isLinkLocal() ? plain + "-" + scope(address) : plain;
    }
}
