package io.rdma4j.transport.cm;

import io.rdma4j.wire.Gid;

/**
 * The two ends of a connection or packet.
 *
 * @param local local address
 * @param remote peer's address
 * @param scope IPv6 scope identifier for a link-local peer, else 0
 */
public record CmRoute(Gid local, Gid remote, int scope) {}
