package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The queue pair and the shared receive queue of an identifier, with the completion queues created for them. They are
 * created and removed under the identifier's lock, but closed without it. Closing waits for acknowledgements of events,
 * and the thread that handles such an event may need the lock before it acknowledges.
 */
final class IdQueues {
    private final IdCore core;
    private volatile @Nullable IdQueuePair queuePair;
    private volatile @Nullable IdSharedReceives sharedReceives;

    /** Actions that close removed queues; guarded by the identifier's lock. */
    private final List<Runnable> unclosed = new ArrayList<>();

    IdQueues(IdCore core) {
        this.core = core;
    }

    @Nullable
    IdQueuePair queuePair() {
        return queuePair;
    }

    QueuePair createQueuePair(@Nullable ProtectionDomain protectionDomain, CmQueuePairAttributes attributes) {
        String operation = "rdma_create_qp";
        core.lock().lock();
        try {
            core.requireOpen(operation);
            ProviderCmId provider = core.binding().required(operation, IdCore.RESOLVE_FIRST);
            OpenDevices.Use use = core.requireDevice(operation);
            if (queuePair != null) {
                throw IdCore.invalid(operation, "the identifier already has a queue pair", "Destroy it first");
            }
            ProtectionDomain domain = protectionDomain == null ? use.defaultDomain() : protectionDomain;
            String name = use.context().device().name();
            if (!domain.context().device().name().equals(name)) {
                throw IdCore.invalid(
                        operation,
                        "the protection domain belongs to "
                                + domain.context().device().name() + ", the identifier to " + name,
                        "Make the protection domain from the identifier's verbs()");
            }
            IdQueuePair created = IdQueuePair.create(core.id(), provider, domain, withDefaults(attributes, use));
            queuePair = created;
            return created.queuePair();
        } finally {
            core.lock().unlock();
        }
    }

    /** Completes the application's attributes with the identifier's objects. */
    private CmQueuePairAttributes withDefaults(CmQueuePairAttributes attributes, OpenDevices.Use use) {
        IdSharedReceives current = sharedReceives;
        return switch (core.queuePairType()) {
            case XRC_RECEIVE ->
                attributes.xrcDomain() == null ? attributes.withXrcDomain(use.defaultXrcDomain()) : attributes;
            case XRC_SEND -> attributes; // an XRC send queue pair receives no messages
            default ->
                attributes.sharedReceiveQueue() == null && current != null
                        ? attributes.withSharedReceiveQueue(current.queue())
                        : attributes;
        };
    }

    /** Closes the queue pair and everything that an earlier call could not close. */
    void destroyQueuePair() {
        var _ = removeQueuePair();
        closeAll();
    }

    private @Nullable IdQueuePair removeQueuePair() {
        core.lock().lock();
        try {
            IdQueuePair old = queuePair;
            queuePair = null;
            if (old != null) {
                unclosed.add(old::close);
            }
            return old;
        } finally {
            core.lock().unlock();
        }
    }

    // ---- shared receive queue

    SharedReceiveQueue createSharedReceiveQueue(
            @Nullable ProtectionDomain protectionDomain, SharedReceiveQueueInitAttributes attributes) {
        String operation = "rdma_create_srq";
        core.lock().lock();
        try {
            core.requireOpen(operation);
            OpenDevices.Use use = core.requireDevice(operation);
            if (sharedReceives != null) {
                throw IdCore.invalid(
                        operation, "the identifier already has a shared receive queue", "Destroy it first");
            }
            IdSharedReceives created = IdSharedReceives.create(core.id(), use, protectionDomain, attributes);
            sharedReceives = created;
            return created.queue();
        } finally {
            core.lock().unlock();
        }
    }

    @Nullable
    SharedReceiveQueue sharedReceiveQueue() {
        IdSharedReceives current = sharedReceives;
        return current == null ? null : current.queue();
    }

    /**
     * Returns the completion queue of receives: that of the XRC shared receive queue if there is one, else the queue
     * pair's.
     */
    @Nullable
    CompletionQueue receiveCompletions() {
        IdSharedReceives shared = sharedReceives;
        if (shared != null && shared.completions() != null) {
            return shared.completions();
        }
        IdQueuePair current = queuePair;
        return current == null ? null : current.queuePair().receiveCompletions();
    }

    /** Returns the channel created for {@link #receiveCompletions}. */
    @Nullable
    CompletionChannel receiveChannel() {
        IdSharedReceives shared = sharedReceives;
        if (shared != null && shared.completions() != null) {
            return shared.channel();
        }
        IdQueuePair current = queuePair;
        return current == null ? null : current.receiveChannel();
    }

    void destroySharedReceiveQueue() {
        removeSharedReceives();
        closeAll();
    }

    private void removeSharedReceives() {
        IdSharedReceives old = sharedReceives;
        if (old == null) {
            return;
        }
        old.queue().close(); // throws without effect while queue pairs use it
        core.lock().lock();
        try {
            if (old.equals(sharedReceives)) {
                sharedReceives = null;
                unclosed.add(old::closeCompletions);
            }
        } finally {
            core.lock().unlock();
        }
    }

    // ---- end

    /** Stops the queues. {@link #closeAll} must follow. */
    void stop() {
        IdQueuePair old = removeQueuePair();
        if (old != null) {
            old.queuePair().close();
        }
        try {
            removeSharedReceives();
        } catch (RdmaException stillUsed) {
            // Queue pairs of other identifiers use it, so it now belongs to the application. It has no completion
            // queue, since queue pairs cannot receive from an XRC shared receive queue.
            sharedReceives = null;
        }
    }

    /**
     * Closes all removed queues. Those that cannot be closed are retried by the next call. Throws the first failure.
     */
    void closeAll() {
        List<Runnable> all;
        core.lock().lock();
        try {
            all = List.copyOf(unclosed);
            unclosed.clear();
        } finally {
            core.lock().unlock();
        }
        runAll(all.stream().map(this::retryLater).toArray(Runnable[]::new));
    }

    private Runnable retryLater(Runnable close) {
        return () -> {
            try {
                close.run();
            } catch (RdmaException failed) {
                core.lock().lock();
                try {
                    unclosed.add(close);
                } finally {
                    core.lock().unlock();
                }
                throw failed;
            }
        };
    }

    /** Runs all steps because of a failure, which remains the one that is reported. */
    static void runAllAfter(Throwable failure, Runnable... steps) {
        try {
            runAll(steps);
        } catch (RuntimeException another) {
            failure.addSuppressed(another);
        }
    }

    /** Runs all steps even if some fail, then throws the first failure. */
    static void runAll(Runnable... steps) {
        RuntimeException failure = null;
        for (Runnable step : steps) {
            try {
                step.run();
            } catch (RuntimeException failed) {
                if (failure == null) {
                    failure = failed;
                } else if (!failure.equals(failed)) {
                    failure.addSuppressed(failed);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
