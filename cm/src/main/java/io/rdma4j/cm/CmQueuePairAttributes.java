package io.rdma4j.cm;

import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.XrcDomain;
import org.jspecify.annotations.Nullable;

/**
 * What {@link CmId#createQueuePair} makes a queue pair of: {@link QueuePairInitAttributes} in which the completion queues
 * may be left out.
 *
 * @param capabilities sizes
 * @param sendCompletions where send work requests are reported; null to have a queue made, with a channel
 * @param receiveCompletions where receives are reported; null to have a queue made, with a channel
 * @param signalAll whether every send work request is signaled
 * @param context anything that the application wants to find again at the queue pair
 * @param sharedReceiveQueue where messages take their receives from; null for that of the identifier ({@link
 *     CmId#sharedReceiveQueue}), and if it has none for a receive queue of its own
 * @param xrcDomain domain of the target of an extended connection; null for that of the identifier ({@link
 *     CmId#xrcDomain}), and for all other types
 */
public record CmQueuePairAttributes(
        QueuePairCapabilities capabilities,
        @Nullable CompletionQueue sendCompletions,
        @Nullable CompletionQueue receiveCompletions,
        boolean signalAll,
        @Nullable Object context,
        @Nullable SharedReceiveQueue sharedReceiveQueue,
        @Nullable XrcDomain xrcDomain) {
    /** Attributes without a domain of extended connections. */
    public CmQueuePairAttributes(
            QueuePairCapabilities capabilities,
            @Nullable CompletionQueue sendCompletions,
            @Nullable CompletionQueue receiveCompletions,
            boolean signalAll,
            @Nullable Object context,
            @Nullable SharedReceiveQueue sharedReceiveQueue) {
        this(capabilities, sendCompletions, receiveCompletions, signalAll, context, sharedReceiveQueue, null);
    }

    /** Attributes with completion queues made by the identifier. */
    public static CmQueuePairAttributes of(QueuePairCapabilities capabilities) {
        return new CmQueuePairAttributes(capabilities, null, null, false, null, null);
    }

    /** The same attributes as those of the verbs. */
    public static CmQueuePairAttributes of(QueuePairInitAttributes attributes) {
        return new CmQueuePairAttributes(
                attributes.capabilities(),
                attributes.sendCompletions(),
                attributes.receiveCompletions(),
                attributes.signalAll(),
                attributes.context(),
                attributes.sharedReceiveQueue(),
                attributes.xrcDomain());
    }

    /** The same with another shared receive queue. */
    public CmQueuePairAttributes sharedReceiveQueue(@Nullable SharedReceiveQueue queue) {
        return new CmQueuePairAttributes(
                capabilities, sendCompletions, receiveCompletions, signalAll, context, queue, xrcDomain);
    }

    /** The same with another domain of extended connections. */
    public CmQueuePairAttributes xrcDomain(@Nullable XrcDomain domain) {
        return new CmQueuePairAttributes(
                capabilities, sendCompletions, receiveCompletions, signalAll, context, sharedReceiveQueue, domain);
    }
}
