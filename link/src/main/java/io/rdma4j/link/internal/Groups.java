package io.rdma4j.link.internal;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.NetworkInterface;

/** What the link sets ask of multicast groups. */
public final class Groups {
    /** Routers that a frame to a group may pass; as many as Linux's rdma_rxe lets it. */
    public static final int HOPS = 64;

    private Groups() {}

    /**
     * Checks what a group is to be received at.
     *
     * @throws IllegalArgumentException if {@code group} is no multicast address, or {@code local} of another family
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

    /** The group with the interface as its scope where it has one: groups of the link and of the interface. */
    public static InetAddress scoped(InetAddress group, NetworkInterface network) throws IOException {
        boolean scoped = group instanceof Inet6Address && (group.isMCLinkLocal() || group.isMCNodeLocal());
        return scoped ? Inet6Address.getByAddress(null, group.getAddress(), network) : group;
    }
}
