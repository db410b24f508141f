package io.rdma4j.verbs;

/**
 * The current attributes of a shared receive queue. C: {@code struct ibv_srq_attr}.
 *
 * @param maxWorkRequests maximum number of posted receives that no message has consumed
 * @param maxScatterGather maximum number of entries in the scatter/gather list of a receive
 * @param limit number of receives below which an event is reported; 0 if no event is requested, or after the event
 */
public record SharedReceiveQueueAttributes(int maxWorkRequests, int maxScatterGather, int limit) {}
