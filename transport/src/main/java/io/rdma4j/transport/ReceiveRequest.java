package io.rdma4j.transport;

/** One place of a receive queue. Filled by who posts, read by the responder. */
public final class ReceiveRequest {
    /** Number that the application gave. */
    public long workRequestId;

    /** Local memory, piece by piece. */
    public final ScatterGather list;

    ReceiveRequest(int maxScatterGather) {
        list = new ScatterGather(maxScatterGather);
    }
}
