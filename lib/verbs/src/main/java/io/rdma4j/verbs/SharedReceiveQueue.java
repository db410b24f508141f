package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * A receive queue that several queue pairs share. Each message consumes the oldest receive, whichever queue pair it
 * arrives at. C: {@code struct ibv_srq}. Thread safe.
 *
 * <p>A queue pair is assigned to it when the queue pair is created
 * ({@link QueuePairInitAttributes#withSharedReceiveQueue}). Completions go to the completion queue of
 * the queue pair that received the message; {@link WorkCompletion#queuePairNumber} identifies it.
 *
 * <p>A queue created with an {@link XrcDomain} serves extended connections only. No queue pair is assigned to it, and
 * its completions go to the completion queue with which it was created.
 *
 * <p>When a queue pair enters the error state, only a receive that a message had started to fill is flushed. The other
 * receives stay posted. {@link AsyncEvent.Type#QUEUE_PAIR_LAST_WORK_REQUEST_REACHED} then reports that the queue pair
 * no longer consumes receives.
 */
public interface SharedReceiveQueue extends AutoCloseable {
    /** Returns the protection domain of the memory of its receives. */
    ProtectionDomain protectionDomain();

    /** Returns the application's object that was passed at creation, or null. */
    @Nullable
    Object userContext();

    /**
     * Posts a receive. C: {@code ibv_post_srq_recv}.
     *
     * @param request the request; it is copied and can be reused when the call returns
     * @throws RdmaException {@code EINVAL} if the request has too many scatter/gather entries or memory of another
     *     domain, or the queue is closed; {@code ENOMEM} if the queue is full
     */
    void postReceive(ReceiveWorkRequest request);

    /**
     * Posts several receives in order. This costs less than posting each one separately. C: {@code ibv_post_srq_recv}
     * with a chain of requests.
     *
     * @param requests the requests; they are copied and can be reused when the call returns
     * @param count number of requests to post, from the first
     * @throws PartialPostException if a request cannot be posted. The requests before it are posted, the requests after
     *     it are not. The cause is the exception of {@link #postReceive}
     */
    void postReceives(ReceiveWorkRequest[] requests, int count);

    /**
     * Returns the number that initiators of extended connections use for this queue, 24 bits. C:
     * {@code ibv_get_srq_num}.
     *
     * @throws RdmaException {@code EOPNOTSUPP} if the queue was created without an {@link XrcDomain}
     */
    int number();

    /** Returns the sizes, at least the requested ones, and the limit. C: {@code ibv_query_srq}. */
    SharedReceiveQueueAttributes query();

    /**
     * Requests one {@link AsyncEvent.Type#SHARED_RECEIVE_QUEUE_LIMIT_REACHED} event. It is reported when a message
     * leaves fewer receives than the limit. C: {@code ibv_modify_srq} with {@code IBV_SRQ_LIMIT}.
     *
     * @param receives the limit, at most the size of the queue; 0 cancels the request
     * @throws RdmaException {@code EINVAL} if {@code receives} is out of range
     */
    void setLimit(int receives);

    /**
     * Changes the size. Posted receives are kept. C: {@code ibv_modify_srq} with {@code IBV_SRQ_MAX_WR}.
     *
     * @param maxWorkRequests maximum number of posted receives
     * @throws RdmaException {@code EINVAL} if {@code maxWorkRequests} is out of range, less than the limit, or less
     *     than the number of posted receives
     */
    void resize(int maxWorkRequests);

    /**
     * Closes the queue and discards posted receives without completions. Closing the queue again has no effect. C:
     * {@code ibv_destroy_srq}.
     *
     * @throws RdmaException {@code EBUSY} while queue pairs use the queue
     */
    @Override
    void close();
}
