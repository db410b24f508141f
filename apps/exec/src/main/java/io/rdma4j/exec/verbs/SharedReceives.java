package io.rdma4j.exec.verbs;

import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;

/** A shared receive queue and its poster. C: {@code struct ibv_srq}. Thread safe. */
final class SharedReceives implements AutoCloseable, ReceivePoster.Target {
    private final OpenDevice device;
    private final SharedReceiveQueue queue;
    private final ReceivePoster receives;

    /** Takes ownership of a queue. Its requests use memory of the domain. */
    SharedReceives(Domain domain, SharedReceiveQueue queue) {
        this.device = domain.device();
        this.queue = queue;
        receives = new ReceivePoster(this, domain);
    }

    SharedReceiveQueue queue() {
        return queue;
    }

    /** Posts a chain of {@code struct ibv_recv_wr}; see {@link ReceivePoster#post}. */
    int postReceive(long first, long bad) {
        return receives.post(first, bad);
    }

    @Override
    public void post(ReceiveWorkRequest request) {
        queue.postReceive(request);
    }

    @Override
    public void postAll(ReceiveWorkRequest[] requests, int count) {
        queue.postReceives(requests, count);
    }

    @Override
    public void close() {
        queue.close();
        device.asyncEvents().update();
    }
}
