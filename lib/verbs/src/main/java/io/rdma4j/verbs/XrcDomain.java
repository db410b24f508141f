package io.rdma4j.verbs;

import io.rdma4j.value.QueuePairType;

/**
 * A domain of targets of extended reliable connections (XRC), and of their shared receive queues. A request to any
 * target of the domain may specify any shared receive queue of the domain. One connection between two processes
 * therefore serves all their receivers. C: {@code struct ibv_xrcd}. Thread safe.
 *
 * <p>The domain belongs to the open device that created it. Domains that several processes share through a file are not
 * supported.
 *
 * <p>A connection has an initiator ({@link QueuePairType#XRC_SEND}), which sends requests, and a target
 * ({@link QueuePairType#XRC_RECEIVE}), which executes them. Each work request of the initiator specifies a shared
 * receive queue of the target's domain ({@link SendWorkRequest#toSharedReceiveQueue},
 * {@link SharedReceiveQueue#number}). Receives are reported to the completion queue of that shared receive queue, and
 * memory is accessed in its protection domain.
 */
public interface XrcDomain extends AutoCloseable {
    /** Returns the open device. */
    DeviceContext context();

    /**
     * Closes the domain. Closing it again has no effect. C: {@code ibv_close_xrcd}.
     *
     * @throws RdmaException {@code EBUSY} while the domain has shared receive queues or queue pairs
     */
    @Override
    void close();
}
