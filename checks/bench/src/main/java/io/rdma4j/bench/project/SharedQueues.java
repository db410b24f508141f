package io.rdma4j.bench.project;

import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairCapabilities;
import io.rdma4j.verbs.QueuePairInitAttributes;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The objects that the connections of a device share: a protection domain and a completion queue. */
final class SharedQueues {
    private static final int COMPLETIONS = 1 << 16;
    private static final QueuePairCapabilities QUEUE_PAIR = new QueuePairCapabilities(16, 16, 1, 1, 0);
    private static final Map<DeviceContext, SharedQueues> ALL = new ConcurrentHashMap<>();

    private final ProtectionDomain domain;
    private final CompletionQueue completions;

    private SharedQueues(DeviceContext context) {
        domain = context.createProtectionDomain();
        completions = context.createCompletionQueue(COMPLETIONS);
    }

    /** Returns the shared objects of an identifier's device. */
    static SharedQueues of(CmId id) {
        return ALL.computeIfAbsent(id.verbs(), SharedQueues::new);
    }

    /** Creates a queue pair of 16 sends and 16 receives. */
    QueuePair createQueuePair(CmId id) {
        return id.createQueuePair(domain, QueuePairInitAttributes.reliable(completions, QUEUE_PAIR));
    }
}
