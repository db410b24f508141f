package io.rdma4j.soft.device;

import io.rdma4j.soft.engine.Signal;
import io.rdma4j.transport.Completion;
import io.rdma4j.transport.CompletionSink;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A completion queue. */
final class SoftCompletionQueue implements CompletionQueue, CompletionSink {
    private static final int NOT_ARMED = 0;
    private static final int ARMED_SOLICITED = 1;
    private static final int ARMED = 2;

    private final SoftContext context;
    private final CompletionRing ring;
    private final @Nullable Object userContext;
    private final @Nullable SoftCompletionChannel channel;
    private final int completionVector;
    private final AtomicInteger armed = new AtomicInteger(NOT_ARMED);

    /**
     * Whether an event was asked for since this queue was polled last. The look that follows is for completions that came
     * before, and needs no input: the wait that follows that has its own.
     */
    private volatile boolean isFreshlyArmed;

    private final AtomicInteger unacknowledged = new AtomicInteger();
    private final Signal acknowledged = new Signal();

    /** Queue pairs that report here, twice if both their queues do; under the engine lock. */
    private final List<SoftQueuePair> users = new ArrayList<>();

    /** Shared receive queues of extended connections that report here; under the engine lock. */
    private int sharedReceiveQueues;

    private volatile boolean overrun;
    private boolean closed;

    SoftCompletionQueue(
            SoftContext context,
            int entries,
            @Nullable Object userContext,
            @Nullable SoftCompletionChannel channel,
            int completionVector) {
        this.context = context;
        this.userContext = userContext;
        this.channel = channel;
        this.completionVector = completionVector;
        ring = new CompletionRing(entries);
        if (channel != null) {
            channel.attach();
        }
    }

    @Override
    public DeviceContext context() {
        return context;
    }

    @Override
    public int capacity() {
        return ring.capacity();
    }

    @Override
    public @Nullable Object userContext() {
        return userContext;
    }

    @Override
    public @Nullable CompletionChannel channel() {
        return channel;
    }

    @Override
    public int completionVector() {
        return completionVector;
    }

    @Override
    public void resize(int entries) {
        SoftContext.requireEntries("ibv_resize_cq", entries);
        context.engine().lock();
        try {
            if (!ring.resize(entries)) {
                throw new RdmaException(
                        "ibv_resize_cq",
                        Errno.EINVAL,
                        ring.size() + " completions are in the queue, which is to hold " + entries,
                        "Poll them first, or keep the queue larger");
            }
        } finally {
            context.engine().unlock();
        }
    }

    // ---- completions ----

    @Override
    public void onCompletion(Completion completion) {
        if (overrun) {
            return;
        }
        if (!ring.add(completion, context.engine().nowNanos())) {
            onOverrun();
            return;
        }
        SoftCompletionChannel target = channel;
        if (target == null) {
            return;
        }
        // Added before the look whether somebody wants to know, who asks before a last look at what is there.
        VarHandle.fullFence();
        int state = armed.get();
        if (state == ARMED || state == ARMED_SOLICITED && completion.solicited) {
            armed.set(NOT_ARMED);
            target.onEvent(this);
        }
    }

    /** A completion is lost: nothing that reports here can be relied on any more. */
    private void onOverrun() {
        overrun = true;
        for (SoftQueuePair user : List.copyOf(users)) {
            user.fail();
        }
        // Told last: another thread may look at the queue pairs the moment it hears of it.
        context.onAsyncEvent(AsyncEvent.Type.COMPLETION_QUEUE_ERROR, this);
        SoftCompletionChannel target = channel;
        if (target != null && armed.getAndSet(NOT_ARMED) != NOT_ARMED) {
            // Who waits for a completion shall poll, and be told.
            target.onEvent(this);
        }
    }

    @Override
    public int poll(WorkCompletion[] completions) {
        int count = ring.take(completions);
        if (count == 0) {
            if (isFreshlyArmed) {
                isFreshlyArmed = false;
            } else {
                context.engine().poll();
                count = ring.take(completions);
            }
        }
        if (count == 0 && overrun && completions.length > 0) {
            throw new RdmaException(
                    "ibv_poll_cq",
                    Errno.EIO,
                    "the completion queue of " + capacity() + " entries has overrun, completions are lost",
                    "Make it as large as the work requests of all its queue pairs, or poll more often");
        }
        return count;
    }

    @Override
    public void requestNotification(boolean solicitedOnly) {
        if (channel == null) {
            throw new RdmaException(
                    "ibv_req_notify_cq",
                    Errno.EINVAL,
                    "the completion queue has no channel",
                    "Give it one when you create it");
        }
        if (solicitedOnly) {
            armed.compareAndSet(NOT_ARMED, ARMED_SOLICITED);
        } else {
            armed.set(ARMED);
        }
        isFreshlyArmed = true;
    }

    // ---- events ----

    void onEventTaken() {
        unacknowledged.incrementAndGet();
    }

    @Override
    public void acknowledgeEvents(int count) {
        unacknowledged.addAndGet(-count);
        acknowledged.raise();
    }

    // ---- life ----

    void addUser(SoftQueuePair queuePair) {
        users.add(queuePair);
    }

    void removeUser(SoftQueuePair queuePair) {
        users.remove(queuePair);
    }

    /** Notes that a shared receive queue reports here; under the engine lock. */
    void addSharedReceiveQueue() {
        sharedReceiveQueues++;
    }

    /** Notes that one does so no more; under the engine lock. */
    void removeSharedReceiveQueue() {
        sharedReceiveQueues--;
    }

    boolean belongsTo(SoftContext other) {
        return context == other;
    }

    @Override
    public void close() {
        context.engine().lock();
        try {
            if (sharedReceiveQueues > 0) {
                throw new RdmaException(
                        "ibv_destroy_cq",
                        Errno.EBUSY,
                        sharedReceiveQueues + " shared receive queues report here",
                        "Close them first");
            }
            if (!users.isEmpty()) {
                throw new RdmaException(
                        "ibv_destroy_cq",
                        Errno.EBUSY,
                        users.size() + " queues of queue pairs report here",
                        "Close the queue pairs first");
            }
        } finally {
            context.engine().unlock();
        }
        SoftCompletionChannel target = channel;
        if (target != null) {
            target.forget(this);
        }
        boolean allAcknowledged = context.engine().await(acknowledged, () -> unacknowledged.get() <= 0, Long.MAX_VALUE);
        if (!allAcknowledged) {
            throw new RdmaException(
                    "ibv_destroy_cq",
                    Errno.EINTR,
                    unacknowledged.get() + " events are not acknowledged",
                    "Acknowledge each event taken from the channel");
        }
        closeNow();
    }

    void closeNow() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        SoftCompletionChannel target = channel;
        if (target != null) {
            target.forget(this);
            target.detach();
        }
        context.finishEvents(this);
        context.remove(this);
    }
}
