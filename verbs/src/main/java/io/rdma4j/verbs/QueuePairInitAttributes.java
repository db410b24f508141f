package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * The parameters of a new queue pair. C: {@code struct ibv_qp_init_attr}. Immutable.
 *
 * <p>Programs start with {@link #reliable}, {@link #of} or {@link #extendedReceive}, and change what differs by the methods
 * {@code with…}.
 *
 * @param type transport
 * @param sendCompletions completion queue of send work requests
 * @param receiveCompletions completion queue of receives; may be the same queue
 * @param capabilities requested sizes; the queue pair may have greater ones
 * @param signalAll true if every send work request is signaled ({@code sq_sig_all})
 * @param context arbitrary object of the application, or null
 * @param sharedReceiveQueue shared receive queue of any domain of the device, or null for a separate receive queue.
 *     With a shared one, the receive sizes in {@code capabilities} are ignored
 * @param xrcDomain domain of the target of an extended connection; null for all other types
 * @param blockMulticastLoopback true if datagrams that this queue pair sends to a multicast group are not received by itself
 *     ({@code IBV_QP_CREATE_BLOCK_SELF_MCAST_LB}); of the type {@code UNRELIABLE_DATAGRAM} only
 */
public record QueuePairInitAttributes(
        QueuePairType type,
        CompletionQueue sendCompletions,
        CompletionQueue receiveCompletions,
        QueuePairCapabilities capabilities,
        boolean signalAll,
        @Nullable Object context,
        @Nullable SharedReceiveQueue sharedReceiveQueue,
        @Nullable XrcDomain xrcDomain,
        boolean blockMulticastLoopback) {
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
     * completions. {@code completions} may be any completion queue of the device; C has none.
     */
    public static QueuePairInitAttributes extendedReceive(XrcDomain domain, CompletionQueue completions) {
        return of(QueuePairType.XRC_RECEIVE, completions, new QueuePairCapabilities(0, 0, 0, 0, 0))
                .withXrcDomain(domain);
    }

    /** Returns a copy with another completion queue for receives. */
    public QueuePairInitAttributes withReceiveCompletions(CompletionQueue queue) {
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

    /** Returns a copy in which every send work request is signaled, or only those that ask for it. */
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

    /** Returns a copy with a shared receive queue, or null for a separate receive queue. */
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

    /** Returns a copy with the domain of an extended connection's target, or null for all other types. */
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

    /** Returns a copy whose datagrams to a multicast group the queue pair itself does not receive, or receives. */
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
