package io.rdma4j.cm;

import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePairType;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import org.jspecify.annotations.Nullable;

/**
 * The shared receive queue of an identifier. One of extended connections reports to a completion queue of its own, which
 * is made with it where the application gives none.
 *
 * @param queue the queue
 * @param completions where an extended one reports, else null
 * @param channel the channel made for {@code completions}, or null if the application gave that
 */
record IdSharedReceives(
        SharedReceiveQueue queue,
        @Nullable CompletionQueue completions,
        @Nullable CompletionChannel channel) {
    static IdSharedReceives create(
            CmId id,
            OpenDevices.Use use,
            @Nullable ProtectionDomain protectionDomain,
            SharedReceiveQueueInitAttributes attributes) {
        ProtectionDomain domain = protectionDomain == null ? use.defaultDomain() : protectionDomain;
        if (attributes.xrcDomain() == null && id.queuePairType() != QueuePairType.XRC_RECEIVE) {
            return new IdSharedReceives(domain.createSharedReceiveQueue(attributes), null, null);
        }
        SharedReceiveQueueInitAttributes inDomain =
                attributes.xrcDomain() == null ? attributes.extended(use.defaultXrcDomain()) : attributes;
        CompletionQueue given = attributes.completions();
        return given == null
                ? createReporting(id, domain, inDomain)
                : new IdSharedReceives(domain.createSharedReceiveQueue(inDomain), given, null);
    }

    /** Makes the completion queue, too. */
    private static IdSharedReceives createReporting(
            CmId id, ProtectionDomain domain, SharedReceiveQueueInitAttributes attributes) {
        DeviceContext context = domain.context();
        CompletionChannel channel = context.createCompletionChannel();
        CompletionQueue completions = null;
        try {
            completions = context.createCompletionQueue(Math.max(1, attributes.maxWorkRequests()), id, channel);
            return new IdSharedReceives(
                    domain.createSharedReceiveQueue(attributes.reportedAt(completions)), completions, channel);
        } catch (RuntimeException | Error failed) {
            CompletionQueue made = completions;
            IdQueues.inTurnAfter(failed, made == null ? () -> {} : made::close, channel::close);
            throw failed;
        }
    }

    /** Closes what was made with the queue, which is closed. Where it fails it may be repeated. */
    void closeCompletions() {
        if (channel != null && completions != null) {
            completions.close();
            channel.close();
        }
    }
}
