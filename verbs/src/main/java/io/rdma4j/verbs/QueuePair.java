package io.rdma4j.verbs;

import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A send queue and a receive queue, connected to those of a peer. C: {@code struct ibv_qp}. Thread safe.
 *
 * <p>Memory named by a work request belongs to the device until its completion has been polled.
 */
public interface QueuePair extends AutoCloseable {
    /** Number, 24 bits. C: {@code qp_num}. */
    int number();

    /** Transport. */
    QueuePairType type();

    /** The domain it belongs to. */
    ProtectionDomain protectionDomain();

    /** Where send work requests are reported. */
    CompletionQueue sendCompletions();

    /** Where receives are reported. */
    CompletionQueue receiveCompletions();

    /** Where its messages take their receives from, or null if it has a receive queue of its own. C: {@code srq}. */
    @Nullable
    SharedReceiveQueue sharedReceiveQueue();

    /** Sizes, at least those asked for; those of receives are 0 if it uses a shared receive queue. */
    QueuePairCapabilities capabilities();

    /** What the application left here when it made the queue pair. */
    @Nullable
    Object userContext();

    /** State now. */
    QueuePairState state();

    /**
     * Changes the state or attributes. What each change needs is in {@link QueuePairTransitions}; a change that is
     * refused changes nothing. C: {@code ibv_modify_qp}.
     *
     * @throws RdmaException {@code EINVAL} with what is missing, not allowed or out of range
     */
    void modify(QueuePairAttributes attributes);

    /**
     * What happened to this queue pair since it was made, by the names that Linux uses in {@code hw_counters}, such as
     * {@code duplicate_request}. The values may be a moment old; which names there are depends on the provider. C: {@code
     * rdma statistic qp}.
     */
    Map<String, Long> counters();

    /** All attributes as they are now. C: {@code ibv_query_qp}. */
    QueuePairAttributes query();

    /**
     * Posts a send work request; the call does not wait, and sends at once if it can. C: {@code ibv_post_send}.
     *
     * @param request copied, may be used again when the call returns
     * @throws RdmaException {@code EINVAL} in a state before ready-to-send, or if the request does not fit the queue
     *     pair (too many pieces, inline data too long, memory of another domain); {@code ENOMEM} if the queue is full
     */
    void postSend(SendWorkRequest request);

    /**
     * Posts several send work requests in order, which costs much less than to post them one by one: they leave together.
     * C: {@code ibv_post_send} with a chain of requests, or {@code ibv_wr_start} to {@code ibv_wr_complete}.
     *
     * @param requests copied, may be used again when the call returns
     * @param count how many of them, from the first, to post
     * @throws PartialPostException if one of them could not be posted; those before it are, those after it are not. Its
     *     cause says why, as {@link #postSend} would
     */
    void postSends(SendWorkRequest[] requests, int count);

    /**
     * Posts a receive. C: {@code ibv_post_recv}.
     *
     * @param request copied, may be used again when the call returns
     * @throws RdmaException {@code EINVAL} in the reset state, if the request does not fit the queue pair, or if that
     *     uses a shared receive queue; {@code ENOMEM} if the queue is full
     */
    void postReceive(ReceiveWorkRequest request);

    /**
     * Posts several receives in order, which costs less than to post them one by one. C: {@code ibv_post_recv} with a chain
     * of requests.
     *
     * @param requests copied, may be used again when the call returns
     * @param count how many of them, from the first, to post
     * @throws PartialPostException if one of them could not be posted; those before it are, those after it are not. Its
     *     cause says why, as {@link #postReceive} would
     */
    void postReceives(ReceiveWorkRequest[] requests, int count);

    /**
     * Posts a signaled RDMA WRITE of one piece of memory: {@link #postSend} in one call.
     *
     * @param id the application's number
     * @param region local memory
     * @param offsetBytes where the data begin in it
     * @param lengthBytes bytes to write
     * @param remoteAddress where at the peer
     * @param remoteKey under which of the peer's keys
     */
    default void postWrite(
            long id, MemoryRegion region, long offsetBytes, long lengthBytes, long remoteAddress, int remoteKey) {
        postSend(new SendWorkRequest()
                .reset(id)
                .write(remoteAddress, remoteKey)
                .from(region, offsetBytes, lengthBytes)
                .signaled());
    }

    /** Posts a signaled RDMA READ into one piece of memory; see {@link #postWrite}. */
    default void postRead(
            long id, MemoryRegion region, long offsetBytes, long lengthBytes, long remoteAddress, int remoteKey) {
        postSend(new SendWorkRequest()
                .reset(id)
                .read(remoteAddress, remoteKey)
                .from(region, offsetBytes, lengthBytes)
                .signaled());
    }

    /**
     * Has the peer of a reliable connection asked whether it is there, whenever nothing has come from it for {@code interval}
     * and nothing is under way. A peer that does not answer, as often and as long as {@link QueuePairAttribute#RETRY_COUNT}
     * and {@link QueuePairAttribute#TIMEOUT} say, is given up: {@link QueuePairState#ERROR}, which flushes receives, and
     * {@link AsyncEvent.Type#QUEUE_PAIR_FATAL}. Off at first and after a reset, since without it nothing is sent on an idle
     * connection, and nobody notices that its peer is gone. Any peer answers, and neither side's work requests take part. C
     * has nothing like it: applications post empty RDMA WRITEs.
     *
     * @param interval up to a year; {@link Duration#ZERO} to stop
     * @throws RdmaException {@code EINVAL} if the interval is negative or longer, or the queue pair is not ready to send;
     *     {@code EOPNOTSUPP} if it is no reliable connection, or the provider cannot
     */
    default void setKeepAlive(Duration interval) {
        throw new RdmaException(
                "keep alive",
                Errno.EOPNOTSUPP,
                "the provider of " + this + " cannot",
                "Post empty RDMA WRITEs instead");
    }

    /**
     * What the status of a completion of this queue pair means, in words: for {@link CompletionStatus#RETRY_EXCEEDED_ERROR} also
     * how often the peer was asked and how long it had for each answer, if the provider knows. For messages to people.
     */
    default String explain(CompletionStatus status) {
        return status.text();
    }

    /**
     * Lets this queue pair receive what is sent to a multicast group: each datagram takes a receive, as one sent to this
     * queue pair alone would, if its queue key fits. What this queue pair itself sends to the group comes back to it. A
     * queue pair that is attached already stays so. C: {@code ibv_attach_mcast}; over RoCE there is no LID.
     *
     * @param group GID of the group, for IPv4 {@code ::ffff:a.b.c.d}
     * @throws RdmaException {@code EINVAL} if the queue pair is not of unreliable datagrams, or {@code group} is no
     *     multicast GID; {@code ENODEV} if the device has no address of the group's family; {@code ENOMEM} if there are
     *     too many groups or attachments; {@code EADDRINUSE} if something on this host keeps the group for itself
     */
    void attachMulticast(Gid group);

    /**
     * Takes {@link #attachMulticast} back. C: {@code ibv_detach_mcast}.
     *
     * @throws RdmaException {@code EINVAL} if the queue pair is not attached to the group
     */
    void detachMulticast(Gid group);

    /**
     * Closes the queue pair: what is under way is given up without completions, and multicast groups are detached (in C a
     * queue pair that is attached to one is busy). C: {@code ibv_destroy_qp}. Closing twice
     * does nothing.
     */
    @Override
    void close();
}
