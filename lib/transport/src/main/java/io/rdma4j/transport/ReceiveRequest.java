package io.rdma4j.transport;

/** A slot of a receive queue, filled by the posting thread and read by the responder. */
public final class ReceiveRequest {
    /** Work request ID assigned by the application. */
    public long workRequestId;

    /** Scatter list of local memory. */
    public final ScatterGather list;

    ReceiveRequest(int maxScatterGather) {
        list = new ScatterGather(maxScatterGather);
    }
}
