package io.rdma4j.cm;

import io.rdma4j.cm.host.AddressText;
import io.rdma4j.value.Gid;
import java.net.InetAddress;

/**
 * The multicast group to join, and the type of membership. C: {@code struct rdma_cm_join_mc_attr_ex}. Immutable.
 *
 * @param group the group: an IP address in GID form, or a GID
 * @param mapped true if {@code group} is an IP address, which the provider maps to a group's GID; false if it is a GID,
 *     which is used unchanged (C: an {@code AF_IB} address)
 * @param flag type of membership
 */
public record MulticastJoinAttributes(Gid group, boolean mapped, MulticastJoinFlag flag) {
    /** Returns attributes for full membership in the group of an IP address. */
    public static MulticastJoinAttributes of(InetAddress group) {
        return new MulticastJoinAttributes(Gid.of(group), true, MulticastJoinFlag.FULL_MEMBER);
    }

    /** Returns attributes for full membership in the group of a GID, which is used unchanged. */
    public static MulticastJoinAttributes unmapped(Gid group) {
        return new MulticastJoinAttributes(group, false, MulticastJoinFlag.FULL_MEMBER);
    }

    /** Returns these attributes with another type of membership. */
    public MulticastJoinAttributes withFlag(MulticastJoinFlag newFlag) {
        return new MulticastJoinAttributes(group, mapped, newFlag);
    }

    /** Returns whether both specify the same group in the same form, regardless of the type of membership. */
    boolean isSameGroup(MulticastJoinAttributes other) {
        return group.equals(other.group) && mapped == other.mapped;
    }

    /** Returns the group as text: an IP address, or a GID. */
    public String groupText() {
        return mapped ? AddressText.of(group.toInetAddress()) : group.toString();
    }
}
