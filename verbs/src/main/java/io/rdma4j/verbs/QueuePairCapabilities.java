package io.rdma4j.verbs;

/**
 * Sizes of a queue pair. C: {@code struct ibv_qp_cap}.
 *
 * @param maxSendWorkRequests send work requests under way
 * @param maxReceiveWorkRequests receives posted
 * @param maxSendScatterGather pieces of a send work request
 * @param maxReceiveScatterGather pieces of a receive
 * @param maxInlineBytes bytes of an inline send work request
 */
public record QueuePairCapabilities(
        int maxSendWorkRequests,
        int maxReceiveWorkRequests,
        int maxSendScatterGather,
        int maxReceiveScatterGather,
        int maxInlineBytes) {
    /** The same sizes for a queue pair that has no receive queue of its own. */
    public QueuePairCapabilities withoutReceives() {
        return new QueuePairCapabilities(maxSendWorkRequests, 0, maxSendScatterGather, 0, maxInlineBytes);
    }
}
