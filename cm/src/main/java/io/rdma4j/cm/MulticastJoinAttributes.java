package io.rdma4j.cm;

import io.rdma4j.cm.spi.AddressText;
import io.rdma4j.verbs.Gid;
import java.net.InetAddress;

/**
 * Which multicast group to join, and how. C: {@code struct rdma_cm_join_mc_attr_ex}. Immutable.
 *
 * @param group the group: an IP address in GID form, or a GID
 * @param mapped whether {@code group} is an IP address, which the provider maps to the GID of a group; else it is a GID that
 *     is used as it is (C: an {@code AF_IB} address)
 * @param flag what the identifier wants of the group
 */
public record MulticastJoinAttributes(Gid group, boolean mapped, MulticastJoinFlag flag) {
    /** Full membership in the group of an IP address. */
    public static MulticastJoinAttributes of(InetAddress group) {
        return new MulticastJoinAttributes(Gid.of(group), true, MulticastJoinFlag.FULL_MEMBER);
    }

    /** Full membership in the group of a GID that is used as it is. */
    public static MulticastJoinAttributes unmapped(Gid group) {
        return new MulticastJoinAttributes(group, false, MulticastJoinFlag.FULL_MEMBER);
    }

    /** The same group, with another flag. */
    public MulticastJoinAttributes withFlag(MulticastJoinFlag newFlag) {
        return new MulticastJoinAttributes(group, mapped, newFlag);
    }

    /** Whether both name the same group in the same way; the flag does not matter. */
    boolean isSameGroup(MulticastJoinAttributes other) {
        return group.equals(other.group) && mapped == other.mapped;
    }

    /** The group as text: an IP address, or a GID. */
    public String groupText() {
        return mapped ? AddressText.of(group.toInetAddress()) : group.toString();
    }
}
