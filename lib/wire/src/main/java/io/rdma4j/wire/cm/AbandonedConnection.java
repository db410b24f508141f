package io.rdma4j.wire.cm;

/**
 * The data needed to disconnect the peer on behalf of a process that has exited.
 *
 * @param route local and remote address
 * @param trafficClass traffic class of the messages
 * @param localId communication ID of the process
 * @param localQueuePair queue pair of the process
 * @param remoteId the peer's communication ID
 * @param remoteQueuePair the peer's queue pair
 */
public record AbandonedConnection(
        CmRoute route, int trafficClass, int localId, int localQueuePair, int remoteId, int remoteQueuePair) {
    /** Returns the request that disconnects the peer. */
    public Dreq disconnectRequest() {
        return new Dreq(localId, remoteId, remoteQueuePair, PrivateData.EMPTY);
    }
}
