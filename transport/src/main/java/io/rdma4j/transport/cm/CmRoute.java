package io.rdma4j.transport.cm;

/**
 * The two ends of a connection, as addresses in GID form (IPv4 as {@code ::ffff:a.b.c.d}), upper and lower half.
 *
 * @param localHigh local address, upper half
 * @param localLow local address, lower half
 * @param remoteHigh peer's address, upper half
 * @param remoteLow peer's address, lower half
 * @param scope IPv6 scope identifier for a link-local peer, else 0
 */
public record CmRoute(long localHigh, long localLow, long remoteHigh, long remoteLow, int scope) {}
