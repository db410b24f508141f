package io.rdma4j.transport.cm;

import io.rdma4j.wire.cm.Dreq;
import io.rdma4j.wire.cm.PrivateData;

/**
 * What it takes to end a connection in the name of its process, which is gone.
 *
 * @param route the two ends
 * @param trafficClass of the messages
 * @param localId the process' communication ID
 * @param localQueuePair its queue pair
 * @param remoteId the peer's communication ID
 * @param remoteQueuePair the peer's queue pair
 */
public record AbandonedConnection(
        CmRoute route, int trafficClass, int localId, int localQueuePair, int remoteId, int remoteQueuePair) {
    Dreq disconnectRequest() {
        return new Dreq(localId, remoteId, remoteQueuePair, PrivateData.EMPTY);
    }
}
