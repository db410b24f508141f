package io.rdma4j.verbs;

/**
 * What a shared receive queue is like now. C: {@code struct ibv_srq_attr}.
 *
 * @param maxWorkRequests receives that can be posted and not yet taken
 * @param maxScatterGather pieces of one receive
 * @param limit number of receives below which an event comes; 0 when none was asked for, or it has come
 */
public record SharedReceiveQueueAttributes(int maxWorkRequests, int maxScatterGather, int limit) {}
