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
 * The shared receive queue of an identifier. An XRC shared receive queue reports to a completion queue, which is
 * created with it if the application provides none.
 *
 * @param queue the queue
 * @param completions completion queue of an XRC shared receive queue, else null
 * @param channel the channel created for {@code completions}, or null if the application provided the completion queue
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

    /** Creates the completion queue and its channel too. */
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
            IdQueues.runAllAfter(failed, made == null ? () -> {} : made::close, channel::close);
            throw failed;
        }
    }

    /**
     * Closes the completion queue and channel created with the queue, after the queue was closed. The call may be
     * repeated if it fails.
     */
    void closeCompletions() {
        if (channel != null && completions != null) {
            completions.close();
            channel.close();
        }
    }
}
