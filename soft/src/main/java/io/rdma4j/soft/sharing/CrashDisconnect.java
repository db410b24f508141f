package io.rdma4j.soft.sharing;

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
        long remoteLow) {}
