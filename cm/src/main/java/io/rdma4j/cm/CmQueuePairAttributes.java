package io.rdma4j.cm;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.XrcDomain;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of a queue pair created by {@link CmId#createQueuePair}: {@link QueuePairInitAttributes} whose
 * completion queues may be omitted. Immutable.
 *
 * <p>Programs start with {@link #defaults} or {@link #of(QueuePairCapabilities)}, and change what differs by the methods {@code
 * with…}.
 *
 * @param capabilities sizes
 * @param sendCompletions completion queue of send work requests; null to create one with a channel
 * @param receiveCompletions completion queue of receives; null to create one with a channel
 * @param signalAll true if every send work request generates a work completion
 * @param context object for the application's use, stored at the queue pair
 * @param sharedReceiveQueue shared receive queue of the queue pair; null for that of the identifier ({@link
 *     CmId#sharedReceiveQueue}), and if it has none, for a separate receive queue
 * @param xrcDomain XRC domain of an XRC target queue pair; null for that of the identifier ({@link CmId#xrcDomain}),
 *     and for all other types
 * @param blockMulticastLoopback true if datagrams that the queue pair sends to a multicast group are not received by itself
 *     ({@code IBV_QP_CREATE_BLOCK_SELF_MCAST_LB}); datagrams only
 */
public record CmQueuePairAttributes(
        QueuePairCapabilities capabilities,
        @Nullable CompletionQueue sendCompletions,
        @Nullable CompletionQueue receiveCompletions,
        boolean signalAll,
        @Nullable Object context,
        @Nullable SharedReceiveQueue sharedReceiveQueue,
        @Nullable XrcDomain xrcDomain,
        boolean blockMulticastLoopback) {
    private static final int DEFAULT_WORK_REQUESTS = 16;

    /**
     * Returns attributes for a first program. They allow 16 send and 16 receive work requests, each with one memory range, and
     * the identifier creates its completion queues with channels.
     */
    public static CmQueuePairAttributes defaults() {
        return of(new QueuePairCapabilities(DEFAULT_WORK_REQUESTS, DEFAULT_WORK_REQUESTS, 1, 1, 0));
    }

    /** Returns attributes whose completion queues are created by the identifier. */
    public static CmQueuePairAttributes of(QueuePairCapabilities capabilities) {
        return new CmQueuePairAttributes(capabilities, null, null, false, null, null, null, false);
    }

    /** Returns the same attributes as the given verbs attributes. */
    public static CmQueuePairAttributes of(QueuePairInitAttributes attributes) {
        return new CmQueuePairAttributes(
                attributes.capabilities(),
                attributes.sendCompletions(),
                attributes.receiveCompletions(),
                attributes.signalAll(),
                attributes.context(),
                attributes.sharedReceiveQueue(),
                attributes.xrcDomain(),
                attributes.blockMulticastLoopback());
    }

    /** Returns these attributes with the given completion queues, each null to create one with a channel. */
    public CmQueuePairAttributes withCompletions(@Nullable CompletionQueue send, @Nullable CompletionQueue receive) {
        return new CmQueuePairAttributes(
                capabilities, send, receive, signalAll, context, sharedReceiveQueue, xrcDomain, blockMulticastLoopback);
    }

    /** Returns these attributes; every send work request is signaled, or only those that ask for it. */
    public CmQueuePairAttributes withSignalAll(boolean value) {
        return new CmQueuePairAttributes(
                capabilities,
                sendCompletions,
                receiveCompletions,
                value,
                context,
                sharedReceiveQueue,
                xrcDomain,
                blockMulticastLoopback);
    }

    /** Returns these attributes with an object for the application's use. */
    public CmQueuePairAttributes withContext(@Nullable Object value) {
        return new CmQueuePairAttributes(
                capabilities,
                sendCompletions,
                receiveCompletions,
                signalAll,
                value,
                sharedReceiveQueue,
                xrcDomain,
                blockMulticastLoopback);
    }

    /** Returns these attributes with the given shared receive queue. */
    public CmQueuePairAttributes withSharedReceiveQueue(@Nullable SharedReceiveQueue queue) {
        return new CmQueuePairAttributes(
                capabilities,
                sendCompletions,
                receiveCompletions,
                signalAll,
                context,
                queue,
                xrcDomain,
                blockMulticastLoopback);
    }

    /** Returns these attributes with the given XRC domain. */
    public CmQueuePairAttributes withXrcDomain(@Nullable XrcDomain domain) {
        return new CmQueuePairAttributes(
                capabilities,
                sendCompletions,
                receiveCompletions,
                signalAll,
                context,
                sharedReceiveQueue,
                domain,
                blockMulticastLoopback);
    }

    /** Returns these attributes; the queue pair itself does not receive its datagrams to a multicast group, or does. */
    public CmQueuePairAttributes withBlockMulticastLoopback(boolean value) {
        return new CmQueuePairAttributes(
                capabilities,
                sendCompletions,
                receiveCompletions,
                signalAll,
                context,
                sharedReceiveQueue,
                xrcDomain,
                value);
    }
}
