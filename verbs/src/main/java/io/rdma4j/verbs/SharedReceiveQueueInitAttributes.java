package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * What a shared receive queue is made of. C: {@code struct ibv_srq_init_attr}.
 *
 * @param maxWorkRequests receives posted at most, from 1
 * @param maxScatterGather pieces of one receive
 * @param context anything that the application wants to find again at the queue
 */
public record SharedReceiveQueueInitAttributes(
        int maxWorkRequests, int maxScatterGather, @Nullable Object context) {
    /** A queue of the given sizes. */
    public static SharedReceiveQueueInitAttributes of(int maxWorkRequests, int maxScatterGather) {
        return new SharedReceiveQueueInitAttributes(maxWorkRequests, maxScatterGather, null);
    }
}
