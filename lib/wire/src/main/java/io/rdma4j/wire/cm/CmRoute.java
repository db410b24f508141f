package io.rdma4j.wire.cm;

import io.rdma4j.value.Gid;

/**
 * The addresses of both ends of a connection or packet.
 *
 * @param local local address
 * @param remote peer's address
 * @param scope IPv6 scope identifier for a link-local peer, otherwise 0
 */
public record CmRoute(Gid local, Gid remote, int scope) {
    /** Returns whether two scope identifiers can denote the same link; 0 matches any link. */
    public static boolean isSameLink(int scope, int otherScope) {
        return scope == 0 || otherScope == 0 || scope == otherScope;
    }

    /**
     * Returns whether an address is the peer's. The same link-local address on another link belongs to another host.
     */
    public boolean matchesPeer(Gid address, int addressScope) {
        return remote.equals(address) && isSameLink(scope, addressScope);
    }
}
