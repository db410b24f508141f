package io.rdma4j.soft.device;

import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.spi.RequiredAttributes;
import org.jspecify.annotations.Nullable;

/** Checks the attributes that a queue pair is created with. */
final class QueuePairInitChecks {
    private QueuePairInitChecks() {}

    /** Checks the capabilities and the combination of type, XRC domain and shared receive queue. */
    static void check(QueuePairInitAttributes attributes) {
        QueuePairCapabilities wanted = capabilities(attributes);
        range("max_send_wr", wanted.maxSendWorkRequests(), Limits.MAX_WORK_REQUESTS);
        range("max_recv_wr", wanted.maxReceiveWorkRequests(), Limits.MAX_WORK_REQUESTS);
        range("max_send_sge", wanted.maxSendScatterGather(), Limits.MAX_SCATTER_GATHER);
        range("max_recv_sge", wanted.maxReceiveScatterGather(), Limits.MAX_SCATTER_GATHER);
        range("max_inline_data", wanted.maxInlineBytes(), Limits.MAX_INLINE_BYTES);
        checkExtended(attributes);
        if (attributes.blockMulticastLoopback() && attributes.type() != QueuePairType.UNRELIABLE_DATAGRAM) {
            throw new RdmaException(
                    SoftQueuePair.CREATE,
                    Errno.EINVAL,
                    attributes.type() + " without multicast loopback",
                    "Only datagrams are multicast: leave blockMulticastLoopback false");
        }
    }

    /** Checks that a completion queue belongs to the device, and returns it. */
    static SoftCompletionQueue completions(SoftContext context, CompletionQueue queue) {
        if (queue instanceof SoftCompletionQueue soft && soft.belongsTo(context)) {
            return soft;
        }
        throw new RdmaException(
                SoftQueuePair.CREATE,
                Errno.EINVAL,
                "the completion queue is of another device",
                "Create it from the device context of the protection domain");
    }

    /**
     * Checks the attributes of extended connections. Their queue pairs have no shared receive queue, and only targets have an XRC
     * domain.
     */
    private static void checkExtended(QueuePairInitAttributes attributes) {
        boolean isTarget = attributes.type() == QueuePairType.XRC_RECEIVE;
        boolean isExtended = isTarget || attributes.type() == QueuePairType.XRC_SEND;
        if (isTarget != (attributes.xrcDomain() != null) || isExtended && attributes.sharedReceiveQueue() != null) {
            throw new RdmaException(
                    SoftQueuePair.CREATE,
                    Errno.EINVAL,
                    attributes.type() + (attributes.xrcDomain() == null ? " without" : " with") + " an XRC domain, and "
                            + (attributes.sharedReceiveQueue() == null ? "no" : "a") + " shared receive queue",
                    "XRC_RECEIVE takes an XRC domain, others none; the shared receive queues of extended connections"
                            + " are created with the domain");
        }
    }

    /** Returns the capabilities of a queue pair, which has no receive queue if it does not use one. */
    static QueuePairCapabilities capabilities(QueuePairInitAttributes attributes) {
        QueuePairCapabilities wanted = attributes.capabilities();
        return switch (RequiredAttributes.type(attributes)) {
            case XRC_RECEIVE -> new QueuePairCapabilities(0, 0, 0, 0, 0);
            case XRC_SEND -> wanted.withoutReceives();
            default -> attributes.sharedReceiveQueue() == null ? wanted : wanted.withoutReceives();
        };
    }

    /** Checks that a shared receive queue belongs to the device and is not for extended connections; returns it. */
    static @Nullable SoftSharedReceiveQueue sharedReceives(SoftContext context, @Nullable SharedReceiveQueue queue) {
        if (queue == null
                || queue instanceof SoftSharedReceiveQueue soft && soft.belongsTo(context) && !soft.isExtended()) {
            return (SoftSharedReceiveQueue) queue;
        }
        throw new RdmaException(
                SoftQueuePair.CREATE,
                Errno.EINVAL,
                "the shared receive queue is of another device, or for extended connections",
                "Create it from the device context of the protection domain");
    }

    private static void range(String attribute, int value, int maximum) {
        if (value < 0 || value > maximum) {
            throw new RdmaException(
                    SoftQueuePair.CREATE,
                    Errno.EINVAL,
                    attribute + " " + value,
                    "The software device has 0 to " + maximum);
        }
    }
}
