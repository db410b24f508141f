package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * What a queue pair is made of. C: {@code struct ibv_qp_init_attr}.
 *
 * @param type transport
 * @param sendCompletions where send work requests are reported
 * @param receiveCompletions where receives are reported; may be the same queue
 * @param capabilities sizes wanted; the queue pair may have more
 * @param signalAll whether every send work request is signaled ({@code sq_sig_all})
 * @param context arbitrary object of the application, or null
 * @param sharedReceiveQueue where messages take their receives from, of any domain of the device; null for a receive
 *     queue of its own. With a shared one the sizes of receives in {@code capabilities} are not looked at
 * @param xrcDomain domain of the target of an extended connection; null for all others
 */
public record QueuePairInitAttributes(
        QueuePairType type,
        CompletionQueue sendCompletions,
        CompletionQueue receiveCompletions,
        QueuePairCapabilities capabilities,
        boolean signalAll,
        @Nullable Object context,
        @Nullable SharedReceiveQueue sharedReceiveQueue,
        @Nullable XrcDomain xrcDomain) {
    /** What any but the target of an extended connection is made of. */
    public QueuePairInitAttributes(
            QueuePairType type,
            CompletionQueue sendCompletions,
            CompletionQueue receiveCompletions,
            QueuePairCapabilities capabilities,
            boolean signalAll,
            @Nullable Object context,
            @Nullable SharedReceiveQueue sharedReceiveQueue) {
        this(type, sendCompletions, receiveCompletions, capabilities, signalAll, context, sharedReceiveQueue, null);
    }

    /** A reliable connection whose queues both report to {@code completions}. */
    public static QueuePairInitAttributes reliable(CompletionQueue completions, QueuePairCapabilities capabilities) {
        return of(QueuePairType.RELIABLE_CONNECTION, completions, capabilities);
    }

    /** A queue pair of a transport whose queues both report to {@code completions}. */
    public static QueuePairInitAttributes of(
            QueuePairType type, CompletionQueue completions, QueuePairCapabilities capabilities) {
        return new QueuePairInitAttributes(type, completions, completions, capabilities, false, null, null, null);
    }

    /**
     * The target of an extended connection. It reports nothing itself, and has no queues: {@code completions} can be
     * any completion queue of the device, where C has none.
     */
    public static QueuePairInitAttributes extendedReceive(XrcDomain domain, CompletionQueue completions) {
        return new QueuePairInitAttributes(
                QueuePairType.XRC_RECEIVE,
                completions,
                completions,
                new QueuePairCapabilities(0, 0, 0, 0, 0),
                false,
                null,
                null,
                domain);
    }

    /** The same with another shared receive queue. */
    public QueuePairInitAttributes sharedReceiveQueue(@Nullable SharedReceiveQueue queue) {
        return new QueuePairInitAttributes(
                type, sendCompletions, receiveCompletions, capabilities, signalAll, context, queue, xrcDomain);
    }
}
