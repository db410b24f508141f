package io.rdma4j.link.internal;

import io.rdma4j.link.Link;
import io.rdma4j.link.LinkStatistics;
import io.rdma4j.link.SendBurst;
import io.rdma4j.link.host.GidAddresses;
import io.rdma4j.value.Gid;
import java.net.Inet4Address;
import java.net.InetSocketAddress;

/** The common part of the links of all link sets: the local address, the counters and the checks before a send. */
public abstract class AbstractLink implements Link {
    /** The counters of this link. */
    protected final LinkStatistics statistics = new LinkStatistics();

    /** True if the local address is an IPv4 address. */
    protected final boolean ipv4;

    /** True if this link receives a multicast group, and sends nothing. */
    protected final boolean isGroup;

    private final InetSocketAddress local;
    private final int localScope;

    /**
     * Creates a link.
     *
     * @param local the address and port that frames are sent from, or the multicast group and port that are received
     */
    protected AbstractLink(InetSocketAddress local) {
        this.local = local;
        ipv4 = local.getAddress() instanceof Inet4Address;
        isGroup = local.getAddress().isMulticastAddress();
        localScope = GidAddresses.scope(local.getAddress());
    }

    @Override
    public final InetSocketAddress localAddress() {
        return local;
    }

    @Override
    public final LinkStatistics statistics() {
        return statistics;
    }

    /**
     * Returns whether a burst can be sent: the link is open, does not receive a group, and is of the destination's
     * address family. Otherwise counts the frames as failed.
     */
    protected final boolean maySend(SendBurst burst, boolean isOpen) {
        if (isOpen && !isGroup && Gid.isIpv4(burst.destinationHigh(), burst.destinationLow()) == ipv4) {
            return true;
        }
        statistics.sendFailures.add(burst.count());
        return false;
    }

    /** Returns the scope of a burst's destination: the local address' scope if a link-local destination has none. */
    protected final int destinationScope(SendBurst burst) {
        int scope = burst.destinationScope();
        return scope == 0 && GidAddresses.isLinkLocal(burst.destinationHigh()) ? localScope : scope;
    }
}
