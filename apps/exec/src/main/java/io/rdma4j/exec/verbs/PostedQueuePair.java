package io.rdma4j.exec.verbs;

import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.ReceiveWorkRequest;
import org.jspecify.annotations.Nullable;

/** A queue pair and its posters. C: {@code struct ibv_qp}. Thread safe. */
final class PostedQueuePair implements AutoCloseable {
    private final OpenDevice device;
    private final QueuePair queuePair;

    /** Null for the target of an extended connection, to which nothing is posted. */
    private final @Nullable SendPoster sends;

    private final @Nullable ReceivePoster receives;

    /**
     * Takes ownership of a queue pair.
     *
     * @param domain the domain of the memory of its requests; null for the target of an extended connection
     */
    PostedQueuePair(OpenDevice device, QueuePair queuePair, @Nullable Domain domain) {
        this.device = device;
        this.queuePair = queuePair;
        sends = domain == null ? null : new SendPoster(queuePair, domain);
        receives = domain == null ? null : new ReceivePoster(new ReceiveQueue(queuePair), domain);
    }

    QueuePair queuePair() {
        return queuePair;
    }

    /** Posts a chain of {@code struct ibv_send_wr}; see {@link SendPoster#post}. */
    int postSend(long first, long bad) {
        SendPoster poster = sends;
        return poster == null ? Chains.refuse(first, bad, Errno.EINVAL) : poster.post(first, bad);
    }

    /** Posts a chain of {@code struct ibv_recv_wr}; see {@link ReceivePoster#post}. */
    int postReceive(long first, long bad) {
        ReceivePoster poster = receives;
        return poster == null ? Chains.refuse(first, bad, Errno.EINVAL) : poster.post(first, bad);
    }

    @Override
    public void close() {
        queuePair.close();
        if (sends != null) {
            sends.close();
        }
        device.asyncEvents().update();
    }

    private record ReceiveQueue(QueuePair queuePair) implements ReceivePoster.Target {
        @Override
        public void post(ReceiveWorkRequest request) {
            queuePair.postReceive(request);
        }

        @Override
        public void postAll(ReceiveWorkRequest[] requests, int count) {
            queuePair.postReceives(requests, count);
        }
    }
}
