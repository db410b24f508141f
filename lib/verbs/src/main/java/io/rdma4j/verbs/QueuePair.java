package io.rdma4j.verbs;

import io.rdma4j.value.CompletionStatus;
import io.rdma4j.value.Gid;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A send queue and a receive queue. Most queue pairs are connected to a peer's queue pair. C: {@code struct ibv_qp}.
 * Thread safe.
 *
 * <p>The application must not modify or free the memory of a work request before it has polled its completion.
 */
public interface QueuePair extends AutoCloseable {
    /** Returns the queue pair number, 24 bits. C: {@code qp_num}. */
    int number();

    /** Returns the transport. */
    QueuePairType type();

    /** Returns the protection domain of this object. */
    ProtectionDomain protectionDomain();

    /** Returns the completion queue of send work requests. */
    CompletionQueue sendCompletions();

    /** Returns the completion queue of receives. */
    CompletionQueue receiveCompletions();

    /** Returns the shared receive queue, or null if the queue pair has a separate receive queue. C: {@code srq}. */
    @Nullable
    SharedReceiveQueue sharedReceiveQueue();

    /** Returns the sizes, at least the requested ones. With a shared receive queue, the receive sizes are 0. */
    QueuePairCapabilities capabilities();

    /** Returns the application's object that was passed at creation, or null. */
    @Nullable
    Object userContext();

    /** Returns the current state. */
    QueuePairState state();

    /**
     * Changes the state or other attributes. The page docs/queue-pair-states.md lists the attributes of each change. A
     * rejected change has no effect. C: {@code ibv_modify_qp}.
     *
     * @throws RdmaException {@code EINVAL} if attributes are missing, not allowed or out of range; the message names
     *     them
     */
    void modify(QueuePairAttributes attributes);

    /**
     * Returns the event counters of this queue pair since its creation. They have Linux's names from
     * {@code hw_counters}, such as {@code duplicate_request}. The values may be slightly out of date. The set of names
     * depends on the provider. C: {@code rdma statistic qp}.
     */
    Map<String, Long> counters();

    /** Returns the current values of all attributes. C: {@code ibv_query_qp}. */
    QueuePairAttributes query();

    /**
     * Posts a send work request. The call does not block, and sends immediately if possible. C: {@code ibv_post_send}.
     *
     * @param request the request; it is copied and can be reused when the call returns
     * @throws RdmaException {@code EINVAL} in a state before ready-to-send, or if the request does not fit the queue
     *     pair (too many scatter/gather entries, inline data too long, memory of another domain); {@code ENOMEM} if the
     *     queue is full
     */
    void postSend(SendWorkRequest request);

    /**
     * Posts several send work requests in order. This costs much less than posting each one separately, since they are
     * sent together. C: {@code ibv_post_send} with a chain of requests, or {@code ibv_wr_start} to
     * {@code ibv_wr_complete}.
     *
     * @param requests the requests; they are copied and can be reused when the call returns
     * @param count number of requests to post, from the first
     * @throws PartialPostException if a request cannot be posted. The requests before it are posted, the requests after
     *     it are not. The cause is the exception of {@link #postSend}
     */
    void postSends(SendWorkRequest[] requests, int count);

    /**
     * Posts a receive. C: {@code ibv_post_recv}.
     *
     * @param request the request; it is copied and can be reused when the call returns
     * @throws RdmaException {@code EINVAL} in the reset state, if the request does not fit the queue pair, or if the
     *     queue pair uses a shared receive queue; {@code ENOMEM} if the queue is full
     */
    void postReceive(ReceiveWorkRequest request);

    /**
     * Posts several receives in order. This costs less than posting each one separately. C: {@code ibv_post_recv} with
     * a chain of requests.
     *
     * @param requests the requests; they are copied and can be reused when the call returns
     * @param count number of requests to post, from the first
     * @throws PartialPostException if a request cannot be posted. The requests before it are posted, the requests after
     *     it are not. The cause is the exception of {@link #postReceive}
     */
    void postReceives(ReceiveWorkRequest[] requests, int count);

    /**
     * Posts a signaled RDMA WRITE of one range of memory; see {@link #postSend}.
     *
     * @param id the application's number of the work request
     * @param region local memory
     * @param offsetBytes offset of the data in the region
     * @param lengthBytes number of bytes to write
     * @param target the memory of the peer, which is written from its first byte
     * @throws IllegalArgumentException if the target is shorter than {@code lengthBytes}
     */
    default void postWrite(long id, MemoryRegion region, long offsetBytes, long lengthBytes, RemoteMemory target) {
        target.requireLength(lengthBytes);
        postSend(new SendWorkRequest()
                .reset(id)
                .write(target.address(), target.key())
                .from(region, offsetBytes, lengthBytes)
                .signaled());
    }

    /**
     * Posts a signaled RDMA READ of the first {@code lengthBytes} of the peer's memory into one range of memory; see
     * {@link #postWrite}.
     */
    default void postRead(long id, MemoryRegion region, long offsetBytes, long lengthBytes, RemoteMemory source) {
        source.requireLength(lengthBytes);
        postSend(new SendWorkRequest()
                .reset(id)
                .read(source.address(), source.key())
                .from(region, offsetBytes, lengthBytes)
                .signaled());
    }

    /**
     * Enables keep-alive probes on a reliable connection. The device sends a probe if it has received no packet for
     * {@code interval} and no work request is in flight.
     *
     * <p>If the peer does not acknowledge a probe within the queue pair's {@link QueuePairAttribute#RETRY_COUNT} and
     * {@link QueuePairAttribute#TIMEOUT}, the queue pair enters {@link QueuePairState#ERROR}, which flushes its
     * receives, and {@link AsyncEvent.Type#QUEUE_PAIR_FATAL} is reported.
     *
     * <p>If the connection manager knows that the peer is rdma4j on another host, the software device sends probes
     * after 60 seconds by default ({@code -Drdma4j.keep-alive=SECONDS|off}). Otherwise probes are disabled initially
     * and after a reset. An idle connection without probes sends no packets, and does not detect the loss of its peer.
     *
     * <p>Probes need no support by the peer, and no work requests on either side. C has no counterpart: applications
     * post empty RDMA WRITEs.
     *
     * @param interval at most one year; {@link Duration#ZERO} disables the probes
     * @throws RdmaException {@code EINVAL} if the interval is out of range or the queue pair is not ready to send;
     *     {@code EOPNOTSUPP} if it is not a reliable connection, or the provider does not support probes
     */
    default void setKeepAlive(Duration interval) {
        throw new RdmaException(
                "keep alive",
                Errno.EOPNOTSUPP,
                "the provider of " + this + " does not support it",
                "Post empty RDMA WRITEs instead");
    }

    /**
     * Limits the rate at which a reliable or unreliable connection sends. The limit applies to the data of SENDs,
     * WRITEs and READ responses, including headers. Work requests take longer; the peer does not notice the limit. The
     * rate is unlimited initially and after a reset. C: {@code ibv_modify_qp_rate_limit}; the device chooses the burst
     * size.
     *
     * @param kilobitsPerSecond the rate in kbit/s, 1 to 2147483647; 0 for no limit
     * @throws RdmaException {@code EINVAL} if the rate is out of range; {@code EOPNOTSUPP} if this is a datagram queue
     *     pair, or the provider does not support limits
     */
    default void setRateLimit(long kilobitsPerSecond) {
        throw new RdmaException(
                "ibv_modify_qp_rate_limit",
                Errno.EOPNOTSUPP,
                "the provider of " + this + " does not support it",
                "Post fewer bytes at a time");
    }

    /**
     * Describes the status of a completion of this queue pair, for messages to users. For
     * {@link CompletionStatus#RETRY_EXCEEDED_ERROR} the text includes the number of retries and the timeout, if the
     * provider knows them.
     */
    default String explain(CompletionStatus status) {
        return status.text();
    }

    /**
     * Attaches this queue pair to a multicast group. Each datagram to the group with the right queue key consumes a
     * receive, like a datagram to this queue pair. The queue pair also receives the datagrams that it sends to the
     * group. Attaching again has no effect. C: {@code ibv_attach_mcast}, without the LID, which RoCE does not have.
     *
     * @param group GID of the group, for IPv4 {@code ::ffff:a.b.c.d}
     * @throws RdmaException {@code EINVAL} if this is not a datagram queue pair, or {@code group} is not a multicast
     *     GID; {@code ENODEV} if the device has no address of the group's family; {@code ENOMEM} if a limit of groups
     *     or attachments is reached; {@code EADDRINUSE} if another socket of this host uses the group exclusively
     */
    void attachMulticast(Gid group);

    /**
     * Detaches this queue pair from a multicast group. C: {@code ibv_detach_mcast}.
     *
     * @throws RdmaException {@code EINVAL} if the queue pair is not attached to the group
     */
    void detachMulticast(Gid group);

    /**
     * Closes the queue pair. Work requests in flight are abandoned without completions, and multicast groups are
     * detached. Closing the queue pair again has no effect. C: {@code ibv_destroy_qp}, which fails while a group is
     * attached.
     */
    @Override
    void close();
}
