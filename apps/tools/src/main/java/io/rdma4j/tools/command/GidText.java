package io.rdma4j.tools.command;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.value.Gid;
import java.net.InetAddress;

/** Formats GIDs like the C tools. */
public final class GidText {
    private GidText() {}

    /**
     * Formats a GID as {@code inet_ntop} formats an IPv6 address: compressed, with an IPv4 address in dotted form after
     * {@code ::ffff:}.
     */
    public static String of(Gid gid) {
        InetAddress address = gid.toInetAddress();
        return (gid.isIpv4() ? "::ffff:" : "") + AddressText.of(address);
    }
}
