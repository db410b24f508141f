package io.rdma4j.verbs;

/**
 * The sizes of a queue pair. C: {@code struct ibv_qp_cap}.
 *
 * @param maxSendWorkRequests maximum number of outstanding send work requests
 * @param maxReceiveWorkRequests maximum number of posted receives
 * @param maxSendScatterGather maximum number of scatter/gather entries of a send work request
 * @param maxReceiveScatterGather maximum number of scatter/gather entries of a receive
 * @param maxInlineBytes maximum number of bytes of an inline send work request
 */
public record QueuePairCapabilities(
        int maxSendWorkRequests,
        int maxReceiveWorkRequests,
        int maxSendScatterGather,
        int maxReceiveScatterGather,
        int maxInlineBytes) {
    /** Returns a copy for a queue pair without a separate receive queue. */
    public QueuePairCapabilities withoutReceives() {
        return new QueuePairCapabilities(maxSendWorkRequests, 0, maxSendScatterGather, 0, maxInlineBytes);
    }
}
