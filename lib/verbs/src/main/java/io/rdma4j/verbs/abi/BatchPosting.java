package io.rdma4j.verbs.abi;

import io.rdma4j.verbs.SendWorkRequest;

/**
 * A queue pair of a software device that posts either all of several sends or none, as C programs expect. Thread safe.
 */
public interface BatchPosting {
    /**
     * Posts the first {@code count} requests together. They are copied and can be reused when the call returns. C:
     * {@code ibv_wr_complete}.
     *
     * @throws io.rdma4j.verbs.RdmaException as for {@link io.rdma4j.verbs.QueuePair#postSend}, if a request cannot be
     *     posted; no request is then posted
     */
    void postTogether(SendWorkRequest[] requests, int count);
}
