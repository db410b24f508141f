package io.rdma4j.verbs;

import org.jspecify.annotations.Nullable;

/**
 * What a shared receive queue is made of. C: {@code struct ibv_srq_init_attr_ex}.
 *
 * @param maxWorkRequests receives posted at most, from 1
 * @param maxScatterGather pieces of one receive
 * @param context arbitrary object of the application, or null
 * @param xrcDomain domain of the extended connections that it serves; null for one that is given to queue pairs
 * @param completions where receives are reported, if it serves extended connections; else null
 */
public record SharedReceiveQueueInitAttributes(
        int maxWorkRequests,
        int maxScatterGather,
        @Nullable Object context,
        @Nullable XrcDomain xrcDomain,
        @Nullable CompletionQueue completions) {
    /** A queue of the given sizes. */
    public static SharedReceiveQueueInitAttributes of(int maxWorkRequests, int maxScatterGather) {
        return new SharedReceiveQueueInitAttributes(maxWorkRequests, maxScatterGather, null, null, null);
    }

    /** The same for extended connections of a domain, reported where {@link #completions} says. */
    public SharedReceiveQueueInitAttributes extended(XrcDomain domain) {
        return new SharedReceiveQueueInitAttributes(maxWorkRequests, maxScatterGather, context, domain, completions);
    }

    /** The same, reported at a completion queue; for extended connections only. */
    public SharedReceiveQueueInitAttributes reportedAt(CompletionQueue queue) {
        return new SharedReceiveQueueInitAttributes(maxWorkRequests, maxScatterGather, context, xrcDomain, queue);
    }

    /** The same for extended connections of a domain. */
    public SharedReceiveQueueInitAttributes extended(XrcDomain domain, CompletionQueue reportedAt) {
        return extended(domain).reportedAt(reportedAt);
    }
}
