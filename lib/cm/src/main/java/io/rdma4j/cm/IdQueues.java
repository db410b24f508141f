package io.rdma4j.cm;

import io.rdma4j.cm.spi.ProviderCmId;
import io.rdma4j.value.QueuePairState;
import io.rdma4j.value.QueuePairType;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.QueuePair;
import io.rdma4j.verbs.QueuePairInitAttributes;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The queue pair and the shared receive queue of an identifier, with the completion queues that were created for them.
 * They are created and removed under the identifier's lock, but closed without it. Closing waits for acknowledgements
 * of events, and the thread that handles such an event may need the lock before it acknowledges the event.
 */
final class IdQueues {
    /** A completion queue that the application did not provide, and its channel. */
    private record Completions(CompletionQueue queue, CompletionChannel channel) {
        static Completions create(CmId id, DeviceContext context, int size) {
            CompletionChannel channel = context.createCompletionChannel();
            try {
                return new Completions(context.createCompletionQueue(Math.max(1, size), id, channel, 0), channel);
            } catch (RuntimeException | Error failed) {
                runAllAfter(failed, channel::close);
                throw failed;
            }
        }

        static void closeAny(@Nullable Completions created) {
            if (created != null) {
                created.close();
            }
        }

        void close() {
            queue.close();
            channel.close();
        }
    }

    /** A queue pair, and the completion queues that were created for it. */
    record Connected(
            QueuePair queuePair,
            @Nullable Completions send,
            @Nullable Completions receive) {
        /**
         * Creates the completion queues that the attributes lack, and the queue pair. Moves it to INIT, or to
         * ready-to-send for datagrams.
         */
        static Connected create(
                CmId id, ProviderCmId provider, ProtectionDomain domain, QueuePairInitAttributes attributes) {
            List<Runnable> undo = new ArrayList<>();
            try {
                SharedReceiveQueue shared = attributes.sharedReceiveQueue();
                Completions send = null;
                CompletionQueue sendQueue = attributes.sendCompletions();
                if (sendQueue == null) {
                    int sends = attributes.capabilities().maxSendWorkRequests();
                    send = Completions.create(id, domain.context(), sends);
                    undo.addFirst(send::close);
                    sendQueue = send.queue;
                }
                Completions receive = null;
                CompletionQueue receiveQueue = attributes.receiveCompletions();
                if (receiveQueue == null) {
                    int receives = shared == null
                            ? attributes.capabilities().maxReceiveWorkRequests()
                            : shared.query().maxWorkRequests();
                    receive = Completions.create(id, domain.context(), receives);
                    undo.addFirst(receive::close);
                    receiveQueue = receive.queue;
                }
                QueuePair queuePair = domain.createQueuePair(attributes
                        .withType(id.queuePairType())
                        .withCompletions(sendQueue)
                        .withReceiveCompletions(receiveQueue));
                undo.addFirst(queuePair::close);
                initialize(queuePair, provider, id.isDatagram());
                return new Connected(queuePair, send, receive);
            } catch (RuntimeException | Error failed) {
                runAllAfter(failed, undo.toArray(Runnable[]::new));
                throw failed;
            }
        }

        private static void initialize(QueuePair queuePair, ProviderCmId provider, boolean isDatagram) {
            queuePair.modify(provider.initQueuePairAttributes(QueuePairState.INIT));
            if (isDatagram) {
                queuePair.modify(provider.initQueuePairAttributes(QueuePairState.READY_TO_RECEIVE));
                queuePair.modify(provider.initQueuePairAttributes(QueuePairState.READY_TO_SEND));
            }
        }

        /** Closes all queues. If a completion queue cannot be closed, closes the others; the call may be repeated. */
        void close() {
            queuePair.close();
            runAll(() -> Completions.closeAny(send), () -> Completions.closeAny(receive));
        }
    }

    /**
     * A shared receive queue. An XRC shared receive queue reports to a completion queue, which is created with it
     * unless the application provides one.
     *
     * @param queue the queue
     * @param completions completion queue of an XRC shared receive queue, otherwise null
     * @param created {@code completions} with its channel, or null if the application provided the completion queue
     */
    record SharedReceives(
            SharedReceiveQueue queue,
            @Nullable CompletionQueue completions,
            @Nullable Completions created) {
        static SharedReceives create(
                CmId id,
                OpenDevices.Use use,
                @Nullable ProtectionDomain protectionDomain,
                SharedReceiveQueueInitAttributes attributes) {
            ProtectionDomain domain = protectionDomain == null ? use.defaultDomain() : protectionDomain;
            boolean isExtended = attributes.xrcDomain() != null;
            if (!isExtended && id.queuePairType() != QueuePairType.XRC_RECEIVE) {
                return new SharedReceives(domain.createSharedReceiveQueue(attributes), null, null);
            }
            SharedReceiveQueueInitAttributes inDomain =
                    isExtended ? attributes : attributes.withXrcDomain(use.defaultXrcDomain());
            CompletionQueue given = attributes.completions();
            if (given != null) {
                return new SharedReceives(domain.createSharedReceiveQueue(inDomain), given, null);
            }
            Completions created = Completions.create(id, domain.context(), attributes.maxWorkRequests());
            try {
                SharedReceiveQueue queue = domain.createSharedReceiveQueue(inDomain.withCompletions(created.queue));
                return new SharedReceives(queue, created.queue, created);
            } catch (RuntimeException | Error failed) {
                runAllAfter(failed, created::close);
                throw failed;
            }
        }
    }

    private final CmId id;
    private volatile @Nullable Connected connected;
    private volatile @Nullable SharedReceives sharedReceives;

    /** Actions that close removed queues; guarded by the identifier's lock. */
    private final List<Runnable> unclosed = new ArrayList<>();

    IdQueues(CmId id) {
        this.id = id;
    }

    // ---- queue pair

    @Nullable
    QueuePair queuePair() {
        Connected current = connected;
        return current == null ? null : current.queuePair;
    }

    /** Implements {@link CmId#createQueuePair}. Null means the device's default domain. */
    QueuePair createQueuePair(@Nullable ProtectionDomain protectionDomain, QueuePairInitAttributes attributes) {
        String operation = "rdma_create_qp";
        id.lock().lock();
        try {
            id.requireOpen(operation);
            ProviderCmId provider = id.binding.required(operation, CmId.RESOLVE_FIRST);
            OpenDevices.Use use = id.requireDevice(operation);
            if (connected != null) {
                throw CmId.invalid(operation, "the identifier already has a queue pair", "Destroy it first");
            }
            ProtectionDomain domain = protectionDomain == null ? use.defaultDomain() : protectionDomain;
            requireDevice(operation, domain, use.context().device().name());
            requireType(operation, attributes.type());
            Connected created = Connected.create(id, provider, domain, withDefaults(attributes, use));
            connected = created;
            return created.queuePair;
        } finally {
            id.lock().unlock();
        }
    }

    private static void requireDevice(String operation, ProtectionDomain domain, String name) {
        String other = domain.context().device().name();
        if (!other.equals(name)) {
            throw CmId.invalid(
                    operation,
                    "the protection domain belongs to " + other + ", the identifier to " + name,
                    "Create the protection domain from the identifier's verbs()");
        }
    }

    private void requireType(String operation, @Nullable QueuePairType type) {
        if (type != null && type != id.queuePairType()) {
            throw CmId.invalid(
                    operation,
                    "the attributes are of the type " + type + ", the identifier of the type " + id.queuePairType(),
                    "Leave the type out: withType(null)");
        }
    }

    /** Completes the application's attributes with the identifier's objects. */
    private QueuePairInitAttributes withDefaults(QueuePairInitAttributes attributes, OpenDevices.Use use) {
        SharedReceives current = sharedReceives;
        return switch (id.queuePairType()) {
            case XRC_RECEIVE ->
                attributes.xrcDomain() == null ? attributes.withXrcDomain(use.defaultXrcDomain()) : attributes;
            case XRC_SEND -> attributes; // an XRC send queue pair receives no messages
            default ->
                attributes.sharedReceiveQueue() == null && current != null
                        ? attributes.withSharedReceiveQueue(current.queue)
                        : attributes;
        };
    }

    /** Closes the queue pair, and the queues that an earlier call could not close. */
    void destroyQueuePair() {
        var _ = removeQueuePair();
        closeAll();
    }

    private @Nullable QueuePair removeQueuePair() {
        id.lock().lock();
        try {
            Connected old = connected;
            connected = null;
            if (old == null) {
                return null;
            }
            unclosed.add(old::close);
            return old.queuePair;
        } finally {
            id.lock().unlock();
        }
    }

    /** Returns the channel that was created for the send completions of the queue pair, or null. */
    @Nullable
    CompletionChannel sendChannel() {
        Connected current = connected;
        return current == null ? null : channelOf(current.send);
    }

    private static @Nullable CompletionChannel channelOf(@Nullable Completions created) {
        return created == null ? null : created.channel;
    }

    // ---- shared receive queue

    /** Implements {@link CmId#createSharedReceiveQueue}. Null means the device's default domain. */
    SharedReceiveQueue createSharedReceiveQueue(
            @Nullable ProtectionDomain protectionDomain, SharedReceiveQueueInitAttributes attributes) {
        String operation = "rdma_create_srq";
        id.lock().lock();
        try {
            id.requireOpen(operation);
            OpenDevices.Use use = id.requireDevice(operation);
            if (sharedReceives != null) {
                throw CmId.invalid(operation, "the identifier already has a shared receive queue", "Destroy it first");
            }
            SharedReceives created = SharedReceives.create(id, use, protectionDomain, attributes);
            sharedReceives = created;
            return created.queue;
        } finally {
            id.lock().unlock();
        }
    }

    @Nullable
    SharedReceiveQueue sharedReceiveQueue() {
        SharedReceives current = sharedReceives;
        return current == null ? null : current.queue;
    }

    /**
     * Returns the completion queue of receives: the XRC shared receive queue's if the identifier has one, otherwise the
     * queue pair's.
     */
    @Nullable
    CompletionQueue receiveCompletions() {
        SharedReceives shared = sharedReceives;
        if (shared != null && shared.completions != null) {
            return shared.completions;
        }
        QueuePair current = queuePair();
        return current == null ? null : current.receiveCompletions();
    }

    /** Returns the channel that was created for {@link #receiveCompletions}, or null. */
    @Nullable
    CompletionChannel receiveChannel() {
        SharedReceives shared = sharedReceives;
        if (shared != null && shared.completions != null) {
            return channelOf(shared.created);
        }
        Connected current = connected;
        return current == null ? null : channelOf(current.receive);
    }

    void destroySharedReceiveQueue() {
        removeSharedReceives();
        closeAll();
    }

    private void removeSharedReceives() {
        SharedReceives old = sharedReceives;
        if (old == null) {
            return;
        }
        old.queue.close(); // throws without effect while queue pairs use it
        id.lock().lock();
        try {
            if (old.equals(sharedReceives)) {
                sharedReceives = null;
                unclosed.add(() -> Completions.closeAny(old.created));
            }
        } finally {
            id.lock().unlock();
        }
    }

    // ---- end

    /** Stops the queues. {@link #closeAll} must follow. */
    void stop() {
        QueuePair old = removeQueuePair();
        if (old != null) {
            old.close();
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
     * Closes all removed queues. The next call retries the queues that cannot be closed. Throws the first failure.
     */
    void closeAll() {
        List<Runnable> all;
        id.lock().lock();
        try {
            all = List.copyOf(unclosed);
            unclosed.clear();
        } finally {
            id.lock().unlock();
        }
        runAll(all.stream().map(this::retryLater).toArray(Runnable[]::new));
    }

    private Runnable retryLater(Runnable close) {
        return () -> {
            try {
                close.run();
            } catch (RdmaException failed) {
                id.lock().lock();
                try {
                    unclosed.add(close);
                } finally {
                    id.lock().unlock();
                }
                throw failed;
            }
        };
    }

    /** Runs all steps after a failure. Adds their failures to it as suppressed exceptions. */
    static void runAllAfter(Throwable failure, Runnable... steps) {
        try {
            runAll(steps);
        } catch (RuntimeException | Error another) {
            add(another, failure);
        }
    }

    /** Runs all steps even if some fail, then throws the first failure. */
    static void runAll(Runnable... steps) {
        Throwable failure = null;
        for (Runnable step : steps) {
            try {
                step.run();
            } catch (RuntimeException | Error failed) {
                if (failure == null) {
                    failure = failed;
                } else {
                    add(failed, failure);
                }
            }
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
    }

    /**
     * Adds a failure to an earlier one. Both may be the same object: Java creates the errors of a full heap in advance.
     */
    private static void add(Throwable another, Throwable failure) {
        if (!failure.equals(another)) {
            try {
                failure.addSuppressed(another);
            } catch (OutOfMemoryError full) {
                return; // the first failure is still reported
            }
        }
    }
}
