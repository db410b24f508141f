package io.rdma4j.verbs.abi;

import io.rdma4j.verbs.SendWorkRequest;

/** A queue pair of a software device that posts several sends or none, as programs in C demand. Thread safe. */
public interface BatchPosting {
    /**
     * Posts the first {@code count} requests together. They are copied and can be reused when the call returns. C: {@code
     * ibv_wr_complete}.
     *
     * @throws io.rdma4j.verbs.RdmaException as {@link io.rdma4j.verbs.QueuePair#postSend}, if one of them cannot be posted; none is
     *     then
     */
    void postTogether(SendWorkRequest[] requests, int count);
}
