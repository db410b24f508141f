package io.rdma4j.soft.device;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.soft.engine.DrivenQueuePair;
import io.rdma4j.soft.gsi.MulticastGroup;
import io.rdma4j.soft.gsi.MulticastGroups;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.util.LinkedHashMap;
import java.util.Map;

/** The multicast groups that one queue pair is attached to. Under the engine lock, unless stated otherwise. */
final class MulticastAttachments {
    static final String ATTACH = "ibv_attach_mcast";
    static final String DETACH = "ibv_detach_mcast";

    private final MulticastGroups allGroups;
    private final SoftDevice device;
    private final DrivenQueuePair driven;

    /** Immutable while it is empty: most queue pairs are never attached. */
    private Map<Gid, MulticastGroup> groups = Map.of();

    MulticastAttachments(MulticastGroups allGroups, SoftDevice device, DrivenQueuePair driven) {
        this.allGroups = allGroups;
        this.device = device;
        this.driven = driven;
    }

    /**
     * Checks that a queue pair can be attached to a group; returns an address of its device, of the group's family. Any
     * thread.
     */
    InetAddress localAddress(QueuePairType type, Gid group) {
        String name = "queue pair 0x%06x".formatted(driven.machine().number());
        if (type != QueuePairType.UNRELIABLE_DATAGRAM) {
            throw new RdmaException(
                    ATTACH,
                    Errno.EINVAL,
                    name + " is of type " + type,
                    "Only queue pairs of type UNRELIABLE_DATAGRAM receive multicast");
        }
        if (!group.isMulticast()) {
            throw new RdmaException(
                    ATTACH,
                    Errno.EINVAL,
                    name + ": " + AddressText.of(group.toInetAddress()) + " is not a multicast address",
                    "Multicast addresses are 224.0.0.0 to 239.255.255.255, and IPv6 addresses that start with ff");
        }
        for (InetAddress address : device.addresses()) {
            if (address instanceof Inet4Address == group.isIpv4()) {
                return address;
            }
        }
        throw new RdmaException(
                ATTACH,
                Errno.ENODEV,
                name + ": " + device.name() + " has no " + (group.isIpv4() ? "IPv4" : "IPv6")
                        + " address for the group " + AddressText.of(group.toInetAddress()),
                "Add one to " + device.networkName() + ", or use a group of the other family");
    }

    void attach(Gid group, InetAddress local) {
        if (groups.containsKey(group)) {
            return;
        }
        MulticastGroup held = allGroups.hold(ATTACH, group, device.networkName(), local);
        if (held.size() >= Limits.MAX_MULTICAST_QUEUE_PAIRS) {
            held.release();
            throw new RdmaException(
                    ATTACH,
                    Errno.ENOMEM,
                    held.size() + " queue pairs are attached to " + AddressText.of(group.toInetAddress()),
                    "Detach queue pairs that are not used");
        }
        held.attach(driven);
        if (groups.isEmpty()) {
            groups = new LinkedHashMap<>();
        }
        groups.put(group, held);
    }

    void detach(Gid group) {
        MulticastGroup held = groups.isEmpty() ? null : groups.remove(group);
        if (held == null) {
            throw new RdmaException(
                    DETACH,
                    Errno.EINVAL,
                    "queue pair 0x%06x is not attached to %s"
                            .formatted(driven.machine().number(), AddressText.of(group.toInetAddress())),
                    "");
        }
        leave(held);
    }

    void detachAll() {
        groups.values().forEach(this::leave);
        groups = Map.of();
    }

    private void leave(MulticastGroup held) {
        held.detach(driven);
        held.release();
    }
}
