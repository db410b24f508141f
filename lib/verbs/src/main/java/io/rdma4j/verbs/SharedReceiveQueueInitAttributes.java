package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * The parameters of a new shared receive queue. C: {@code struct ibv_srq_init_attr_ex}. Immutable.
 *
 * <p>Programs start with {@link #of}. For extended connections, {@link #withXrcDomain} and {@link #withCompletions} add
 * the domain and the completion queue; {@code CmId.createSharedReceiveQueue} supplies missing ones.
 *
 * @param maxWorkRequests maximum number of posted receives, from 1
 * @param maxScatterGather maximum number of entries in the scatter/gather list of a receive
 * @param context arbitrary object of the application, or null
 * @param xrcDomain domain of the extended connections that the queue serves; null for a queue of ordinary queue pairs
 * @param completions completion queue of receives if the queue serves extended connections; otherwise null
 */
public record SharedReceiveQueueInitAttributes(
        int maxWorkRequests,
        int maxScatterGather,
        @Nullable Object context,
        @Nullable XrcDomain xrcDomain,
        @Nullable CompletionQueue completions) {
    /** Returns the parameters of a queue for ordinary queue pairs. */
    public static SharedReceiveQueueInitAttributes of(int maxWorkRequests, int maxScatterGather) {
        return new SharedReceiveQueueInitAttributes(maxWorkRequests, maxScatterGather, null, null, null);
    }

    /** Returns a copy with an arbitrary object of the application, or null. */
    public SharedReceiveQueueInitAttributes withContext(@Nullable Object value) {
        return new SharedReceiveQueueInitAttributes(maxWorkRequests, maxScatterGather, value, xrcDomain, completions);
    }

    /** Returns a copy for extended connections of a domain; null is for ordinary queue pairs. */
    public SharedReceiveQueueInitAttributes withXrcDomain(@Nullable XrcDomain domain) {
        return new SharedReceiveQueueInitAttributes(maxWorkRequests, maxScatterGather, context, domain, completions);
    }

    /** Returns a copy with a completion queue, or null for none. Only extended connections use it. */
    public SharedReceiveQueueInitAttributes withCompletions(@Nullable CompletionQueue queue) {
        return new SharedReceiveQueueInitAttributes(maxWorkRequests, maxScatterGather, context, xrcDomain, queue);
    }
}
