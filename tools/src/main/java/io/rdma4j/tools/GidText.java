package io.rdma4j.tools;

import io.rdma4j.cm.spi.AddressText;
import io.rdma4j.verbs.Gid;
import java.net.InetAddress;

/** GIDs as C's tools print them. */
public final class GidText {
    private GidText() {}

    /**
     * A GID as {@code inet_ntop} prints it as an IPv6 address: the short form, with IPv4 in dotted form behind {@code
     * ::ffff:}.
     */
    public static String of(Gid gid) {
        InetAddress address = gid.toInetAddress();
        return (gid.isIpv4() ? "::ffff:" : "") + AddressText.of(address);
    }
}
