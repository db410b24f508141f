package io.rdma4j.verbs;

/**
 * What connects the targets of extended reliable connections (XRC) to shared receive queues: a request that comes to
 * any target of the domain may name any shared receive queue of the domain. So one connection between two processes
 * serves all their receivers. C: {@code struct ibv_xrcd}. Thread safe.
 *
 * <p>The domain belongs to the open device that made it. Domains that several processes share through a file do not
 * exist here: a software device is one process' own.
 *
 * <p>A connection has an initiator ({@link QueuePairType#XRC_SEND}), which sends, on one side, and a target
 * ({@link QueuePairType#XRC_RECEIVE}), which serves, on the other. Each work request of the initiator names a queue of
 * the target's domain ({@link SendWorkRequest#toSharedReceiveQueue}, {@link SharedReceiveQueue#number}); receives are
 * reported to the completion queue of that queue, and memory is reached in its protection domain.
 */
public interface XrcDomain extends AutoCloseable {
    /** Returns the open device. */
    DeviceContext context();

    /**
     * Closes the domain. C: {@code ibv_close_xrcd}. Closing twice does nothing.
     *
     * @throws RdmaException {@code EBUSY} while it has shared receive queues or queue pairs
     */
    @Override
    void close();
}
