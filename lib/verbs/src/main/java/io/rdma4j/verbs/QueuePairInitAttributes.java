package io.rdma4j.verbs;

import io.rdma4j.value.QueuePairType;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a new queue pair, for {@link ProtectionDomain#createQueuePair} and for {@code CmId.createQueuePair}
 * of the connection manager. C: {@code struct ibv_qp_init_attr}. Immutable.
 *
 * <p>To create a queue pair in a protection domain, start with {@link #reliable},
 * {@link #of(QueuePairType, CompletionQueue, QueuePairCapabilities)} or {@link #extendedReceive}. To create the queue
 * pair of an identifier, start with {@link #defaults} or {@link #of(QueuePairCapabilities)}. These attributes lack the
 * type and the completion queues, which the identifier adds; a protection domain refuses attributes without them. The
 * methods {@code with…} change single values.
 *
 * @param type transport; null for the type of the identifier, which refuses any other type
 * @param sendCompletions completion queue of send work requests; null if the identifier creates one with a channel
 * @param receiveCompletions completion queue of receives, which may be the same queue; null if the identifier creates
 *     one with a channel
 * @param capabilities requested sizes; the queue pair may have greater ones
 * @param signalAll true if every send work request is signaled ({@code sq_sig_all})
 * @param context arbitrary object of the application, or null
 * @param sharedReceiveQueue shared receive queue of any domain of the device. Null for the shared receive queue of the
 *     identifier, or for a separate receive queue if the identifier has none. With a shared receive queue, the receive
 *     sizes in {@code capabilities} are ignored
 * @param xrcDomain domain of the target of an extended connection; null for the domain of the identifier, and for all
 *     other types
 * @param blockMulticastLoopback true if the queue pair does not receive the datagrams that it sends to a multicast
 *     group ({@code IBV_QP_CREATE_BLOCK_SELF_MCAST_LB}); only for the type {@code UNRELIABLE_DATAGRAM}
 */
public record QueuePairInitAttributes(
        @Nullable QueuePairType type,
        @Nullable CompletionQueue sendCompletions,
        @Nullable CompletionQueue receiveCompletions,
        QueuePairCapabilities capabilities,
        boolean signalAll,
        @Nullable Object context,
        @Nullable SharedReceiveQueue sharedReceiveQueue,
        @Nullable XrcDomain xrcDomain,
        boolean blockMulticastLoopback) {
    /**
     * Returns the parameters of an identifier's queue pair, with {@link QueuePairCapabilities#defaults}. The identifier
     * supplies the type and the completion queues.
     */
    public static QueuePairInitAttributes defaults() {
        return of(QueuePairCapabilities.defaults());
    }

    /**
     * Returns the parameters of an identifier's queue pair. The identifier supplies the type and the completion queues.
     */
    public static QueuePairInitAttributes of(QueuePairCapabilities capabilities) {
        return new QueuePairInitAttributes(null, null, null, capabilities, false, null, null, null, false);
    }

    /** Returns the parameters of a reliable connection with {@code completions} for both queues. */
    public static QueuePairInitAttributes reliable(CompletionQueue completions, QueuePairCapabilities capabilities) {
        return of(QueuePairType.RELIABLE_CONNECTION, completions, capabilities);
    }

    /** Returns the parameters of a queue pair with {@code completions} for both queues. */
    public static QueuePairInitAttributes of(
            QueuePairType type, CompletionQueue completions, QueuePairCapabilities capabilities) {
        return new QueuePairInitAttributes(
                type, completions, completions, capabilities, false, null, null, null, false);
    }

    /**
     * Returns the parameters of the target of an extended connection. A target has no queues and reports no
     * completions: {@code completions} may be any completion queue of the device. C has no such parameter.
     */
    public static QueuePairInitAttributes extendedReceive(XrcDomain domain, CompletionQueue completions) {
        return of(QueuePairType.XRC_RECEIVE, completions, new QueuePairCapabilities(0, 0, 0, 0, 0))
                .withXrcDomain(domain);
    }

    /** Returns a copy with another type, or null for the type of the identifier. */
    public QueuePairInitAttributes withType(@Nullable QueuePairType value) {
        return new QueuePairInitAttributes(
                value,
                sendCompletions,
                receiveCompletions,
                capabilities,
                signalAll,
                context,
                sharedReceiveQueue,
                xrcDomain,
                blockMulticastLoopback);
    }

    /** Returns a copy with one completion queue for sends and receives, or null if the identifier creates two. */
    public QueuePairInitAttributes withCompletions(@Nullable CompletionQueue queue) {
        return new QueuePairInitAttributes(
                type,
                queue,
                queue,
                capabilities,
                signalAll,
                context,
                sharedReceiveQueue,
                xrcDomain,
                blockMulticastLoopback);
    }

    /** Returns a copy with another completion queue for receives, or null if the identifier creates one. */
    public QueuePairInitAttributes withReceiveCompletions(@Nullable CompletionQueue queue) {
        return new QueuePairInitAttributes(
                type,
                sendCompletions,
                queue,
                capabilities,
                signalAll,
                context,
                sharedReceiveQueue,
                xrcDomain,
                blockMulticastLoopback);
    }

    /** Returns a copy with other sizes. */
    public QueuePairInitAttributes withCapabilities(QueuePairCapabilities value) {
        return new QueuePairInitAttributes(
                type,
                sendCompletions,
                receiveCompletions,
                value,
                signalAll,
                context,
                sharedReceiveQueue,
                xrcDomain,
                blockMulticastLoopback);
    }

    /** Returns a copy in which every send work request is signaled, or only the requests that specify it. */
    public QueuePairInitAttributes withSignalAll(boolean value) {
        return new QueuePairInitAttributes(
                type,
                sendCompletions,
                receiveCompletions,
                capabilities,
                value,
                context,
                sharedReceiveQueue,
                xrcDomain,
                blockMulticastLoopback);
    }

    /** Returns a copy with an arbitrary object of the application. */
    public QueuePairInitAttributes withContext(@Nullable Object value) {
        return new QueuePairInitAttributes(
                type,
                sendCompletions,
                receiveCompletions,
                capabilities,
                signalAll,
                value,
                sharedReceiveQueue,
                xrcDomain,
                blockMulticastLoopback);
    }

    /** Returns a copy with a shared receive queue, or null for the default; see {@link #sharedReceiveQueue}. */
    public QueuePairInitAttributes withSharedReceiveQueue(@Nullable SharedReceiveQueue queue) {
        return new QueuePairInitAttributes(
                type,
                sendCompletions,
                receiveCompletions,
                capabilities,
                signalAll,
                context,
                queue,
                xrcDomain,
                blockMulticastLoopback);
    }

    /** Returns a copy with the domain of an extended connection's target, or null for the default. */
    public QueuePairInitAttributes withXrcDomain(@Nullable XrcDomain domain) {
        return new QueuePairInitAttributes(
                type,
                sendCompletions,
                receiveCompletions,
                capabilities,
                signalAll,
                context,
                sharedReceiveQueue,
                domain,
                blockMulticastLoopback);
    }

    /** Returns a copy in which the queue pair does not receive (or receives) its own datagrams to a multicast group. */
    public QueuePairInitAttributes withBlockMulticastLoopback(boolean value) {
        return new QueuePairInitAttributes(
                type,
                sendCompletions,
                receiveCompletions,
                capabilities,
                signalAll,
                context,
                sharedReceiveQueue,
                xrcDomain,
                value);
    }
}
