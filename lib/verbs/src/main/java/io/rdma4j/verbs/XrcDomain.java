package io.rdma4j.verbs;

import io.rdma4j.value.QueuePairType;

/**
 * A domain of targets of extended reliable connections (XRC) and their shared receive queues. A request to any target
 * of the domain may name any shared receive queue of the domain. One connection between two processes therefore serves
 * all their receivers. C: {@code struct ibv_xrcd}. Thread safe.
 *
 * <p>The domain belongs to the open device that created it. Domains that several processes share through a file are not
 * supported.
 *
 * <p>A connection has an initiator ({@link QueuePairType#XRC_SEND}), which sends, on one side, and a target ({@link
 * QueuePairType#XRC_RECEIVE}), which serves, on the other. Each work request of the initiator names a queue of the
 * target's domain ({@link SendWorkRequest#toSharedReceiveQueue}, {@link SharedReceiveQueue#number}). Receives are
 * reported to the completion queue of that queue, and memory is accessed in its protection domain.
 */
public interface XrcDomain extends AutoCloseable {
    /** Returns the open device. */
    DeviceContext context();

    /**
     * Closes the domain. C: {@code ibv_close_xrcd}. Closing twice has no effect.
     *
     * @throws RdmaException {@code EBUSY} while it has shared receive queues or queue pairs
     */
    @Override
    void close();
}
