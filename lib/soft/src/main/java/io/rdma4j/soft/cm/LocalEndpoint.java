package io.rdma4j.soft.cm;

import io.rdma4j.link.host.Interfaces;
import io.rdma4j.value.Gid;
import io.rdma4j.value.PathMtu;
import io.rdma4j.verbs.Device;
import io.rdma4j.wire.cm.CmRoute;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;

/**
 * A local address that connections use.
 *
 * @param address the address, with its scope if it is link-local
 * @param device the device that has it
 * @param gidIndex its index in the device's GID table
 * @param pathMtu the largest payload that its network interface carries in a packet
 * @param localAckDelay exponent of the device's maximum acknowledgement delay
 */
record LocalEndpoint(InetAddress address, Device device, int gidIndex, PathMtu pathMtu, int localAckDelay) {
    /** Returns the local address of a route, with its scope if it is link-local. */
    static InetAddress addressOf(CmRoute route) {
        InetAddress local = route.local().toInetAddress();
        try {
            return local.isLinkLocalAddress() && local instanceof Inet6Address
                    ? Inet6Address.getByAddress(null, local.getAddress(), route.scope())
                    : local;
        } catch (UnknownHostException e) {
            throw new AssertionError("an address of another length than 16", e);
        }
    }

    Gid gid() {
        return Gid.of(address);
    }

    /** Returns whether the other endpoint has the same address on the same link. */
    boolean isOfSameAddress(LocalEndpoint other) {
        return scope() == other.scope() && gid().equals(other.gid());
    }

    /** Returns the interface index of a link-local address, otherwise 0. */
    int scope() {
        return Interfaces.scope(address);
    }

    /** Returns the device with its GID, for messages. */
    String describe() {
        return device.name() + ", GID " + gid().addressText() + " at index " + gidIndex;
    }
}
