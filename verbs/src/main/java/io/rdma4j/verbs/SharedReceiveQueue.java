package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * Receives that several queue pairs share: each message takes the oldest one, whichever queue pair it comes to. C:
 * {@code struct ibv_srq}. Thread safe.
 *
 * <p>A queue pair is given it when it is made ({@link QueuePairInitAttributes#sharedReceiveQueue(SharedReceiveQueue)}).
 * Completions go to the completion queue of the queue pair that got the message; {@link
 * WorkCompletion#queuePairNumber} tells which one that was.
 *
 * <p>One that is made with an {@link XrcDomain} serves extended connections only: no queue pair is given it, and its
 * completions go to its own completion queue.
 *
 * <p>When a queue pair goes to the error state its peers' receives stay: only one that a message had begun to fill is
 * flushed. {@link AsyncEvent.Type#QUEUE_PAIR_LAST_WORK_REQUEST_REACHED} then tells that it takes nothing more.
 */
public interface SharedReceiveQueue extends AutoCloseable {
    /** The domain that the memory of its receives belongs to. */
    ProtectionDomain protectionDomain();

    /** Returns the application's object given at creation, or null. */
    @Nullable
    Object userContext();

    /**
     * Posts a receive. C: {@code ibv_post_srq_recv}.
     *
     * @param request the request; it is copied and can be reused when the call returns
     * @throws RdmaException {@code EINVAL} if the request has too many pieces or memory of another domain, or the queue
     *     is closed; {@code ENOMEM} if the queue is full
     */
    void postReceive(ReceiveWorkRequest request);

    /**
     * Posts several receives in order, which costs less than to post them one by one. C: {@code ibv_post_srq_recv} with
     * a chain of requests.
     *
     * @param requests the requests; they are copied and can be reused when the call returns
     * @param count number of requests to post, from the first
     * @throws PartialPostException if a request could not be posted. The requests before it are posted, those after it
     *     are not. The cause is the exception of {@link #postReceive}
     */
    void postReceives(ReceiveWorkRequest[] requests, int count);

    /**
     * Number by which initiators of extended connections name it, 24 bits. C: {@code ibv_get_srq_num}.
     *
     * @throws RdmaException {@code EOPNOTSUPP} if it was made without an {@link XrcDomain}
     */
    int number();

    /** Sizes, at least those asked for, and the limit. C: {@code ibv_query_srq}. */
    SharedReceiveQueueAttributes query();

    /**
     * Has {@link AsyncEvent.Type#SHARED_RECEIVE_QUEUE_LIMIT_REACHED} reported, once, when a message comes and fewer
     * receives than this are left then. C: {@code ibv_modify_srq} with {@code IBV_SRQ_LIMIT}.
     *
     * @param receives 0, which takes that back, to the queue's size
     * @throws RdmaException {@code EINVAL} if it is out of range
     */
    void setLimit(int receives);

    /**
     * Changes the size; what is posted stays. C: {@code ibv_modify_srq} with {@code IBV_SRQ_MAX_WR}.
     *
     * @param maxWorkRequests receives that can be posted
     * @throws RdmaException {@code EINVAL} if it is out of range, less than the limit, or less than what is posted
     */
    void resize(int maxWorkRequests);

    /**
     * Closes the queue; receives that are still posted are forgotten. C: {@code ibv_destroy_srq}. Closing twice does
     * nothing.
     *
     * @throws RdmaException {@code EBUSY} while queue pairs use it
     */
    @Override
    void close();
}
