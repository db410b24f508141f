package io.rdma4j.soft.cm;

import io.rdma4j.cm.CmEvent;
import io.rdma4j.cm.DatagramParameters;
import io.rdma4j.cm.MulticastJoinAttributes;
import io.rdma4j.cm.MulticastJoinFlag;
import io.rdma4j.cm.host.AddressText;
import io.rdma4j.soft.gsi.MulticastGroup;
import io.rdma4j.value.Gid;
import io.rdma4j.verbs.AddressVector;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The multicast groups that one identifier has joined. Calls come from one thread at a time.
 *
 * <p>As with Linux's rdma_cm over RoCEv2, a group consists only of the host's membership.
 */
final class GroupMemberships {
    /** The destination queue pair of every datagram to a multicast group. */
    static final int QUEUE_PAIR = 0xff_ffff;

    static final String JOIN = "rdma_join_multicast";
    private static final int HOP_LIMIT = 64;

    private final CmService service;

    /** By the library's object for each join; null for a send-only join. */
    private final Map<Object, @Nullable MulticastGroup> joined = new LinkedHashMap<>();

    GroupMemberships(CmService service) {
        this.service = service;
    }

    /**
     * Joins a group. A send-only join does not make the host a member.
     *
     * @return the event that follows
     * @throws RdmaException {@code EINVAL} for a wildcard, which is meaningful only in an InfiniBand subnet, and for a group of
     *     another address family than the identifier's
     */
    CmEvent join(LocalEndpoint at, MulticastJoinAttributes attributes, int typeOfService, Object membership) {
        // Over RoCEv2 the GID of a group is its IP address, mapped or not.
        Gid group = attributes.group();
        InetAddress address = group.toInetAddress();
        refuseWildcard(address);
        if (group.isIpv4() != at.gid().isIpv4()) {
            throw new RdmaException(
                    JOIN,
                    Errno.EINVAL,
                    "the group " + AddressText.of(address) + " and the local address " + AddressText.of(at.address())
                            + " are of different address families",
                    "Bind to an address of the group's family");
        }
        boolean receives = attributes.flag() == MulticastJoinFlag.FULL_MEMBER;
        if (!group.isMulticast()) {
            joined.put(membership, null);
            return new CmEvent.MulticastError(
                    membership,
                    -Errno.EINVAL.number(),
                    AddressText.of(address)
                            + " is not a multicast address: multicast addresses are 224.0.0.0 to 239.255.255.255,"
                            + " and IPv6 addresses that start with ff");
        }
        if (!group.isIpv4() && at.address().isLoopbackAddress()) {
            joined.put(membership, null);
            return new CmEvent.MulticastError(
                    membership,
                    -Errno.ENETUNREACH.number(),
                    AddressText.of(address) + " cannot be joined at " + AddressText.of(at.address())
                            + ": Linux delivers no IPv6 groups on loopback interfaces. Bind to an address of another"
                            + " interface, or use an IPv4 group");
        }
        joined.put(membership, receives ? service.joinGroup(at, group) : null);
        AddressVector addressVector =
                AddressVector.of(at.gidIndex(), group).withHopLimit(HOP_LIMIT).withTrafficClass(typeOfService);
        return new CmEvent.MulticastJoin(
                membership,
                new DatagramParameters(new byte[0], addressVector, QUEUE_PAIR, DatagramParameters.UDP_QUEUE_KEY));
    }

    private static void refuseWildcard(InetAddress address) {
        if (address.isAnyLocalAddress()) {
            throw new RdmaException(
                    JOIN,
                    Errno.EINVAL,
                    "the wildcard " + AddressText.of(address) + " does not specify a group",
                    "Only the subnet manager of an InfiniBand network chooses groups; specify a multicast address");
        }
    }

    void leave(Object membership) {
        MulticastGroup group = joined.remove(membership);
        if (group != null) {
            service.leaveGroup(group);
        }
    }

    void close() {
        for (Object membership : joined.keySet().toArray()) {
            leave(membership);
        }
    }
}
