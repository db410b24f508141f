package io.rdma4j.verbs;

/**
 * The sizes of a queue pair. C: {@code struct ibv_qp_cap}. Immutable.
 *
 * <p>Programs start with {@link #defaults}, and change the defaults with the methods {@code with…}. The device checks
 * the ranges when the queue pair is created.
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
    private static final int DEFAULT_WORK_REQUESTS = 16;

    /**
     * Returns sizes for a first program: 16 send and 16 receive work requests with one memory range each, and no inline
     * data.
     */
    public static QueuePairCapabilities defaults() {
        return new QueuePairCapabilities(DEFAULT_WORK_REQUESTS, DEFAULT_WORK_REQUESTS, 1, 1, 0);
    }

    /** Returns a copy with another maximum number of outstanding send work requests. */
    public QueuePairCapabilities withSends(int value) {
        return new QueuePairCapabilities(
                value, maxReceiveWorkRequests, maxSendScatterGather, maxReceiveScatterGather, maxInlineBytes);
    }

    /** Returns a copy with another maximum number of posted receives. */
    public QueuePairCapabilities withReceives(int value) {
        return new QueuePairCapabilities(
                maxSendWorkRequests, value, maxSendScatterGather, maxReceiveScatterGather, maxInlineBytes);
    }

    /** Returns a copy with another maximum number of scatter/gather entries of a send work request. */
    public QueuePairCapabilities withSendScatterGather(int value) {
        return new QueuePairCapabilities(
                maxSendWorkRequests, maxReceiveWorkRequests, value, maxReceiveScatterGather, maxInlineBytes);
    }

    /** Returns a copy with another maximum number of scatter/gather entries of a receive. */
    public QueuePairCapabilities withReceiveScatterGather(int value) {
        return new QueuePairCapabilities(
                maxSendWorkRequests, maxReceiveWorkRequests, maxSendScatterGather, value, maxInlineBytes);
    }

    /** Returns a copy with another maximum number of bytes of an inline send work request. */
    public QueuePairCapabilities withInlineBytes(int value) {
        return new QueuePairCapabilities(
                maxSendWorkRequests, maxReceiveWorkRequests, maxSendScatterGather, maxReceiveScatterGather, value);
    }

    /** Returns a copy for a queue pair without a separate receive queue. */
    public QueuePairCapabilities withoutReceives() {
        return new QueuePairCapabilities(maxSendWorkRequests, 0, maxSendScatterGather, 0, maxInlineBytes);
    }
}
