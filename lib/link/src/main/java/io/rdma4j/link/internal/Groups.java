package io.rdma4j.link.internal;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;

/** Checks and scopes multicast groups for the link sets. */
public final class Groups {
    /** Hop limit of frames to a multicast group, the same as in Linux's rdma_rxe. */
    public static final int HOPS = 64;

    private Groups() {}

    /**
     * Checks the group and local address of a multicast link.
     *
     * @throws IllegalArgumentException if {@code group} is not a multicast address, or {@code local} is of another
     *     family
     */
    public static void requireGroup(InetAddress group, InetAddress local) {
        if (!group.isMulticastAddress()) {
            throw new IllegalArgumentException(group.getHostAddress() + " is not a multicast address");
        }
        if (group instanceof Inet4Address != local instanceof Inet4Address) {
            throw new IllegalArgumentException("the group " + group.getHostAddress() + " and the local address "
                    + local.getHostAddress() + " must be of one family");
        }
    }

    /** Returns the group with the interface as its scope, if the group is link-local or interface-local. */
    public static InetAddress scoped(InetAddress group, NetworkInterface network) throws IOException {
        boolean scoped = group instanceof Inet6Address && (group.isMCLinkLocal() || group.isMCNodeLocal());
        return scoped ? Inet6Address.getByAddress(null, group.getAddress(), network) : group;
    }
}
