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
 * The queue pair and the shared receive queue of an identifier, with the completion queues made for them. They are made
 * and taken away under the identifier's lock, and closed without it: closing waits for the acknowledgement of events, and
 * the thread that has such an event may need the lock before it acknowledges.
 */
final class IdQueues {
    private final IdCore core;
    private volatile @Nullable IdQueuePair queuePair;
    private volatile @Nullable IdSharedReceives sharedReceives;

    /** Closes what was taken away and is not closed yet; under the identifier's lock. */
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
            IdQueuePair made = IdQueuePair.create(core.id(), provider, domain, completed(attributes, use));
            queuePair = made;
            return made.queuePair();
        } finally {
            core.lock().unlock();
        }
    }

    /** Puts in what the identifier has where the application gave nothing. */
    private CmQueuePairAttributes completed(CmQueuePairAttributes attributes, OpenDevices.Use use) {
        IdSharedReceives own = sharedReceives;
        return switch (core.queuePairType()) {
            case XRC_RECEIVE ->
                attributes.xrcDomain() == null ? attributes.xrcDomain(use.defaultXrcDomain()) : attributes;
            case XRC_SEND -> attributes; // it receives nothing
            default ->
                attributes.sharedReceiveQueue() == null && own != null
                        ? attributes.sharedReceiveQueue(own.queue())
                        : attributes;
        };
    }

    /** Closes the queue pair, and what an earlier call could not close. */
    void destroyQueuePair() {
        var _ = takeQueuePair();
        closeAll();
    }

    private @Nullable IdQueuePair takeQueuePair() {
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
            IdSharedReceives made = IdSharedReceives.create(core.id(), use, protectionDomain, attributes);
            sharedReceives = made;
            return made.queue();
        } finally {
            core.lock().unlock();
        }
    }

    @Nullable
    SharedReceiveQueue sharedReceiveQueue() {
        IdSharedReceives own = sharedReceives;
        return own == null ? null : own.queue();
    }

    /** Where receives are reported: those of the shared queue of extended connections, else the queue pair's. */
    @Nullable
    CompletionQueue receiveCompletions() {
        IdSharedReceives shared = sharedReceives;
        if (shared != null && shared.completions() != null) {
            return shared.completions();
        }
        IdQueuePair own = queuePair;
        return own == null ? null : own.queuePair().receiveCompletions();
    }

    /** The channel made for {@link #receiveCompletions}. */
    @Nullable
    CompletionChannel receiveChannel() {
        IdSharedReceives shared = sharedReceives;
        if (shared != null && shared.completions() != null) {
            return shared.channel();
        }
        IdQueuePair own = queuePair;
        return own == null ? null : own.receiveChannel();
    }

    void destroySharedReceiveQueue() {
        takeSharedReceives();
        closeAll();
    }

    private void takeSharedReceives() {
        IdSharedReceives old = sharedReceives;
        if (old == null) {
            return;
        }
        old.queue().close(); // refused, and nothing changed, while queue pairs use it
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

    /** Ends the work of the queues. {@link #closeAll} is to follow. */
    void stop() {
        IdQueuePair old = takeQueuePair();
        if (old != null) {
            old.queuePair().close();
        }
        try {
            takeSharedReceives();
        } catch (RdmaException stillUsed) {
            // Queue pairs of other identifiers use it: it is the application's now. It has no completion queue of its
            // own,
            // since queue pairs cannot take receives from a shared receive queue of extended connections.
            sharedReceives = null;
        }
    }

    /** Closes what was taken away. What cannot be closed is left to the next call; throws the first failure. */
    void closeAll() {
        List<Runnable> all;
        core.lock().lock();
        try {
            all = List.copyOf(unclosed);
            unclosed.clear();
        } finally {
            core.lock().unlock();
        }
        inTurn(all.stream().map(this::orLater).toArray(Runnable[]::new));
    }

    private Runnable orLater(Runnable close) {
        return () -> {
            try {
                close.run();
            } catch (RdmaException notNow) {
                core.lock().lock();
                try {
                    unclosed.add(close);
                } finally {
                    core.lock().unlock();
                }
                throw notNow;
            }
        };
    }

    /** Takes all steps because of a failure, which stays the one that is told. */
    static void inTurnAfter(Throwable failure, Runnable... steps) {
        try {
            inTurn(steps);
        } catch (RuntimeException another) {
            failure.addSuppressed(another);
        }
    }

    /** Takes all steps, whichever of them fail; then throws the first failure. */
    static void inTurn(Runnable... steps) {
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
