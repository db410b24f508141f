package io.rdma4j.soft.cm;

import io.rdma4j.transport.cm.CmRoute;
import io.rdma4j.value.Gid;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.UnknownHostException;

/** Converts addresses between the API's type and that of the protocol machine. */
final class Gids {
    private Gids() {}

    static Gid toVerbs(io.rdma4j.wire.Gid gid) {
        return new Gid(gid.high(), gid.low());
    }

    static io.rdma4j.wire.Gid toWire(Gid gid) {
        return new io.rdma4j.wire.Gid(gid.high(), gid.low());
    }

    /** Returns the local address of a route, with its scope if it is link-local. */
    static InetAddress localAddress(CmRoute route) {
        InetAddress local = toVerbs(route.local()).toInetAddress();
        try {
            return local.isLinkLocalAddress() && local instanceof Inet6Address
                    ? Inet6Address.getByAddress(null, local.getAddress(), route.scope())
                    : local;
        } catch (UnknownHostException e) {
            throw new AssertionError("an address of another length than 16", e);
        }
    }
}
