package io.rdma4j.soft.sharing;

import io.rdma4j.transport.cm.AbandonedConnection;
import io.rdma4j.transport.cm.CmRoute;
import io.rdma4j.wire.Gid;

/**
 * A connection of one process that another process disconnects on its behalf if it is killed. Encoded in 32 bytes.
 *
 * @param localId the process' communication ID
 * @param localQueuePair its queue pair
 * @param remoteId the peer's communication ID, not 0
 * @param remoteQueuePair the peer's queue pair
 * @param trafficClass the traffic class of the DREQ
 * @param remoteHigh the peer's address in GID form, upper half
 * @param remoteLow lower half
 */
public record CrashDisconnect(
        int localId,
        int localQueuePair,
        int remoteId,
        int remoteQueuePair,
        int trafficClass,
        long remoteHigh,
        long remoteLow) {
    /** Returns the form in which a connection of this process is published. */
    public static CrashDisconnect of(AbandonedConnection connection) {
        Gid remote = connection.route().remote();
        return new CrashDisconnect(
                connection.localId(),
                connection.localQueuePair(),
                connection.remoteId(),
                connection.remoteQueuePair(),
                connection.trafficClass(),
                remote.high(),
                remote.low());
    }

    /**
     * Returns the form that the connection manager disconnects.
     *
     * @param local the address that the process used
     * @param scope IPv6 scope identifier of that address, or 0
     */
    public AbandonedConnection toAbandonedConnection(Gid local, int scope) {
        CmRoute route = new CmRoute(local, new Gid(remoteHigh, remoteLow), scope);
        return new AbandonedConnection(route, trafficClass, localId, localQueuePair, remoteId, remoteQueuePair);
    }
}
