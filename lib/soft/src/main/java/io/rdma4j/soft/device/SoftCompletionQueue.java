package io.rdma4j.soft.device;

import io.rdma4j.soft.engine.Engine;
import io.rdma4j.soft.engine.Engines;
import io.rdma4j.soft.events.FlightEvents;
import io.rdma4j.transport.Completion;
import io.rdma4j.transport.CompletionSink;
import io.rdma4j.value.CompletionStatus;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionChannel;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.DeviceContext;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.InterruptedRdmaException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.WorkCompletion;
import io.rdma4j.verbs.spi.StackReserve;
import io.rdma4j.verbs.spi.UnacknowledgedEvents;
import io.rdma4j.verbs.wait.Signal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A completion queue. */
final class SoftCompletionQueue implements CompletionQueue {
    private final SoftContext context;
    private final CompletionRing ring;
    private final @Nullable Object userContext;
    private final @Nullable SoftCompletionChannel channel;
    private final int completionVector;
    private final EventRequest eventRequest = new EventRequest();

    /**
     * True if an event was requested or taken since this queue was last found empty. The next poll that finds it empty
     * then does not drive the engines: the wait that follows does.
     */
    private volatile boolean isWaitExpected;

    private final UnacknowledgedEvents unacknowledged = new UnacknowledgedEvents();
    private final Signal acknowledged = new Signal();

    /** Queue pairs that report here, twice if both their queues do; guarded by its own lock, which is taken last. */
    private final List<SoftQueuePair> users = new ArrayList<>();

    /** The number of shared receive queues of extended connections that report here; under the main engine's lock. */
    private int sharedReceiveQueues;

    /** The number of reporters by the engine that drives them; under the main engine's lock. */
    private final int[] reporters = new int[Engines.MAX_ENGINES];

    /**
     * The engines that drive reporters; the completion vector's engine while there are none. Replaced under the main engine's
     * lock.
     */
    private volatile Engine[] engines;

    /** Events that wait in the channel, and the next queue with one; both belong to the channel's {@link ReportedQueues}. */
    int waitingEvents;

    @Nullable
    SoftCompletionQueue nextReported;

    private volatile boolean overrun;

    /** True if no further reporters may be added; under the main engine's lock. */
    private boolean closing;

    private volatile boolean closed;

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
        engines = new Engine[] {context.engines().engine(completionVector)};
        if (channel != null) {
            channel.attach(engines[0]);
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
        context.engine().lock(); // so that no reporter is added
        engines[0].lockInner();
        try {
            requireNotClosed("ibv_resize_cq");
            if (!ring.resize(entries)) {
                throw new RdmaException(
                        "ibv_resize_cq",
                        Errno.EINVAL,
                        ring.size() + " completions are in the queue, too many for " + entries + " entries",
                        "Poll them first, or keep the queue larger");
            }
        } finally {
            engines[0].unlock();
            context.engine().unlock();
        }
    }

    // ---- completions ----

    /** Returns the sink for completions of objects that an engine drives. */
    CompletionSink from(Engine engine) {
        return completion -> {
            if (completion.isReceive) {
                engine.noteMessage();
            }
            onCompletion(completion, engine.nowNanos());
        };
    }

    private void onCompletion(Completion completion, long nowNanos) {
        if (overrun || !ring.add(completion, nowNanos)) {
            completion.isLost = true;
            onLost();
            return;
        }
        SoftCompletionChannel target = channel;
        if (target != null && eventRequest.consume(completion.solicited)) {
            target.onEvent(this);
        }
        // The last step, because it may fail for lack of memory.
        if (completion.status != CompletionStatus.SUCCESS && FlightEvents.isOn()) {
            reportError(completion);
        }
    }

    /** Reports the error of a work request to Flight Recorder, but none of the flushed requests that follow it. */
    private void reportError(Completion completion) {
        if (completion.status == CompletionStatus.WORK_REQUEST_FLUSHED_ERROR) {
            return;
        }
        CompletionStatus status = completion.status;
        synchronized (users) {
            for (SoftQueuePair user : users) {
                if (user.number() == completion.queuePairNumber) {
                    user.reportError(status.name(), user.explain(status));
                    return; // a queue pair may use this queue twice
                }
            }
        }
    }

    /** Handles the loss of a completion: the reporters are no longer reliable. */
    private void onLost() {
        if (overrun) {
            return;
        }
        List<SoftQueuePair> broken;
        synchronized (users) {
            broken = List.copyOf(users);
        }
        overrun = true; // if there is no memory for the copy, the next lost completion tries again
        broken.forEach(SoftQueuePair::fail);
        SoftCompletionChannel target = channel;
        if (target != null && eventRequest.consume(true)) {
            // A thread that waits for a completion must poll, to get the error.
            target.onEvent(this);
        }
        // Reported last: another thread may check the queue pairs as soon as it receives the event.
        context.onAsyncEvent(AsyncEvent.Type.COMPLETION_QUEUE_ERROR, this);
    }

    @Override
    public int poll(WorkCompletion[] completions) {
        StackReserve.require();
        int count = ring.poll(completions);
        if (count == 0) {
            requireNotClosed("ibv_poll_cq");
            if (isWaitExpected) {
                isWaitExpected = false;
            } else {
                for (Engine engine : engines) {
                    boolean _ = engine.pollInner();
                }
                count = ring.poll(completions);
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
                    "Specify a channel when you create it");
        }
        requireNotClosed("ibv_req_notify_cq");
        eventRequest.arm(solicitedOnly);
        isWaitExpected = true;
    }

    // ---- events ----

    void onEventTaken() {
        isWaitExpected = true;
        unacknowledged.add();
    }

    @Override
    public void acknowledgeEvents(int count) {
        requireNotClosed(UnacknowledgedEvents.OPERATION);
        unacknowledged.acknowledge(count);
        acknowledged.raise();
    }

    // ---- life ----

    /**
     * Checks that the queue is open before a reporter is created; under the main engine's lock.
     *
     * @throws RdmaException if the queue is closed, or being closed by another thread
     */
    void requireOpen(String operation) {
        if (closing) {
            throw new ClosedException(operation, "the completion queue is closed", "Use one that is open");
        }
    }

    private void requireNotClosed(String operation) {
        if (closed) {
            throw new ClosedException(operation, "the completion queue is closed", "");
        }
    }

    /** Notes that a queue pair will report here; under the main engine's lock. */
    void addUser(SoftQueuePair queuePair) {
        synchronized (users) {
            users.add(queuePair);
        }
        changeReporters(queuePair.engine(), 1);
    }

    /** Notes that a queue pair no longer reports here; under the main engine's lock. */
    void removeUser(SoftQueuePair queuePair) {
        synchronized (users) {
            users.remove(queuePair);
        }
        changeReporters(queuePair.engine(), -1);
    }

    /** Notes that a shared receive queue reports here; under the main engine's lock. */
    void addSharedReceiveQueue() {
        sharedReceiveQueues++;
        changeReporters(context.engine(), 1);
    }

    /** Notes that a shared receive queue no longer reports here; under the main engine's lock. */
    void removeSharedReceiveQueue() {
        sharedReceiveQueues--;
        changeReporters(context.engine(), -1);
    }

    private void changeReporters(Engine engine, int by) {
        int before = reporters[engine.index()];
        reporters[engine.index()] = before + by;
        if (before > 0 && before + by > 0) {
            return; // the usual case: the engine drives other reporters of this queue
        }
        List<Engine> reporting = context.engines().all();
        reporting.removeIf(each -> reporters[each.index()] == 0);
        if (reporting.isEmpty()) {
            return; // the next reporter may belong to another engine: until then, polling drives the old one
        }
        if (reporting.size() > 1 && engines.length == 1) {
            allowSeveralEngines();
        }
        engines = reporting.toArray(Engine[]::new);
    }

    private void allowSeveralEngines() {
        Engine only = engines[0];
        only.lockInner();
        try {
            ring.expectManyProducers();
        } finally {
            only.unlock();
        }
    }

    /** Removes the completions of a queue pair that was reset. */
    void forgetCompletions(SoftQueuePair queuePair) {
        ring.remove(queuePair.number());
    }

    private int userCount() {
        synchronized (users) {
            return users.size();
        }
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
            int count = userCount();
            if (count > 0) {
                throw new RdmaException(
                        "ibv_destroy_cq",
                        Errno.EBUSY,
                        count + " queues of queue pairs report here",
                        "Close the queue pairs first");
            }
            closing = true;
        } finally {
            context.engine().unlock();
        }
        SoftCompletionChannel target = channel;
        if (target != null) {
            target.forget(this);
        }
        // Closing the device also closes the queue, and requires no acknowledgement.
        boolean allAcknowledged =
                acknowledged.await(context.engine(), () -> closed || unacknowledged.count() == 0, Long.MAX_VALUE);
        if (!allAcknowledged) {
            reopen();
            throw new InterruptedRdmaException(
                    "ibv_destroy_cq",
                    unacknowledged.count() + " events are not acknowledged",
                    "Acknowledge each event taken from the channel");
        }
        closeNow();
    }

    private void reopen() {
        context.engine().lock();
        closing = false;
        context.engine().unlock();
    }

    void closeNow() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        ring.clear(); // so that polling need not check for each completion whether the queue is closed
        acknowledged.raise();
        SoftCompletionChannel target = channel;
        if (target != null) {
            target.forget(this);
            target.detach();
            target.signal().raise(); // threads may wait for this queue
        }
        context.finishEvents(this);
        context.remove(this);
    }
}
