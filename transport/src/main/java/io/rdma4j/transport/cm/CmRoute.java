package io.rdma4j.transport.cm;

import io.rdma4j.wire.Gid;

/**
 * The two ends of a connection or packet.
 *
 * @param local local address
 * @param remote peer's address
 * @param scope IPv6 scope identifier for a link-local peer, else 0
 */
public record CmRoute(Gid local, Gid remote, int scope) {
    /** Whether two scope identifiers can mean one link: 0 says nothing about it. */
    public static boolean isSameLink(int scope, int otherScope) {
        return scope == 0 || otherScope == 0 || scope == otherScope;
    }

    /** Whether an address is that of the peer; the same link-local address on another link is another host's. */
    public boolean leadsTo(Gid address, int addressScope) {
        return remote.equals(address) && isSameLink(scope, addressScope);
    }
}
