package io.rdma4j.soft.engine;

/**
 * A connection of one process that another process ends in its name if it is killed: 32 bytes between processes.
 *
 * @param localId the process' communication ID
 * @param localQueuePair its queue pair
 * @param remoteId the peer's communication ID, not 0
 * @param remoteQueuePair the peer's queue pair
 * @param trafficClass of the message
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
