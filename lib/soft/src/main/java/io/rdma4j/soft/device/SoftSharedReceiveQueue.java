package io.rdma4j.soft.device;

import io.rdma4j.soft.engine.Engine;
import io.rdma4j.transport.ReceiveRequest;
import io.rdma4j.verbs.AsyncEvent;
import io.rdma4j.verbs.ClosedException;
import io.rdma4j.verbs.CompletionQueue;
import io.rdma4j.verbs.Errno;
import io.rdma4j.verbs.ProtectionDomain;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.ReceiveWorkRequest;
import io.rdma4j.verbs.SharedReceiveQueue;
import io.rdma4j.verbs.SharedReceiveQueueAttributes;
import io.rdma4j.verbs.SharedReceiveQueueInitAttributes;
import io.rdma4j.verbs.XrcDomain;
import io.rdma4j.verbs.spi.SpinLock;
import org.jspecify.annotations.Nullable;

/** A shared receive queue. */
final class SoftSharedReceiveQueue implements SharedReceiveQueue {
    private static final String CREATE = "ibv_create_srq";
    private static final String POST = "ibv_post_srq_recv";
    private static final String MODIFY = "ibv_modify_srq";

    private final SoftProtectionDomain domain;
    private final Engine engine;
    private final @Nullable Object userContext;
    private final @Nullable SoftXrcDomain xrcDomain;
    private final @Nullable SoftCompletionQueue completions;
    private final SharedReceives queue;

    /** Serializes posting. A resize also holds the engine lock, which it takes first. */
    private final SpinLock lock = new SpinLock();

    private final PostLock<ReceiveWorkRequest> receives = new PostLock<>(lock, this::enqueue, () -> {});

    /** The queue pairs that take receives from here; under the engine lock. */
    private int users;

    private volatile boolean closed;

    SoftSharedReceiveQueue(SoftProtectionDomain domain, SharedReceiveQueueInitAttributes attributes) {
        range(CREATE, "max_wr", attributes.maxWorkRequests(), 1, Limits.MAX_WORK_REQUESTS);
        range(CREATE, "max_sge", attributes.maxScatterGather(), 0, Limits.MAX_SCATTER_GATHER);
        this.domain = domain;
        engine = domain.softContext().engine();
        userContext = attributes.context();
        XrcDomain wanted = attributes.xrcDomain();
        xrcDomain = wanted == null ? null : SoftXrcDomain.of(CREATE, domain.softContext(), wanted);
        completions = completions(domain.softContext(), attributes);
        queue = new SharedReceives(
                attributes.maxWorkRequests(),
                attributes.maxScatterGather(),
                domain.number(),
                this::onLimit,
                xrcDomain == null
                        ? 0
                        : domain.softContext().softDevice().devices().newSharedReceiveNumber(),
                completions == null ? null : completions.from(engine));
        if (xrcDomain != null) {
            xrcDomain.domain().add(queue);
        }
        if (completions != null) {
            completions.addSharedReceiveQueue();
        }
    }

    private static @Nullable SoftCompletionQueue completions(
            SoftContext context, SharedReceiveQueueInitAttributes attributes) {
        CompletionQueue given = attributes.completions();
        boolean isExtended = attributes.xrcDomain() != null;
        if (!isExtended && given == null) {
            return null;
        }
        if (isExtended && given instanceof SoftCompletionQueue soft && soft.belongsTo(context)) {
            soft.requireOpen(CREATE);
            return soft;
        }
        throw new RdmaException(
                CREATE,
                Errno.EINVAL,
                isExtended
                        ? "no completion queue of the device for an XRC domain"
                        : "a completion queue without an XRC domain",
                "Specify both or neither: without a domain the queue pairs' completion queues are used");
    }

    private static void range(String operation, String attribute, int value, int minimum, int maximum) {
        if (value < minimum || value > maximum) {
            throw new RdmaException(
                    operation,
                    Errno.EINVAL,
                    attribute + " " + value,
                    "It can be " + minimum + " to " + maximum + " here");
        }
    }

    /** Called under the lock of the engine whose queue pair took a receive. */
    private void onLimit() {
        domain.softContext().onAsyncEvent(AsyncEvent.Type.SHARED_RECEIVE_QUEUE_LIMIT_REACHED, this);
    }

    /** Returns the queue of the transport. */
    io.rdma4j.transport.SharedReceiveQueue queue() {
        return queue;
    }

    /** Notes that a queue pair takes receives from this queue, which is open; under the engine lock. */
    void addUser() {
        users++;
    }

    /** Records that a queue pair no longer uses this queue; under the engine lock. */
    void removeUser() {
        users--;
    }

    boolean belongsTo(SoftContext context) {
        return domain.softContext() == context;
    }

    /** Returns whether it serves extended connections. */
    boolean isExtended() {
        return xrcDomain != null;
    }

    @Override
    public ProtectionDomain protectionDomain() {
        return domain;
    }

    @Override
    public @Nullable Object userContext() {
        return userContext;
    }

    // ---- posting ----

    @Override
    public void postReceive(ReceiveWorkRequest request) {
        receives.post(request);
    }

    @Override
    public void postReceives(ReceiveWorkRequest[] requests, int count) {
        receives.postAll(requests, count);
    }

    private void enqueue(ReceiveWorkRequest request) {
        int pieces = request.list().count();
        if (pieces > queue.maxScatterGather()) {
            throw new RdmaException(
                    POST,
                    Errno.EINVAL,
                    pieces + " pieces for " + this + ", which takes " + queue.maxScatterGather(),
                    "Create the shared receive queue with a larger max_sge");
        }
        requireOpen(POST);
        ReceiveRequest slot = queue.claim();
        if (slot == null) {
            throw new RdmaException(
                    POST,
                    Errno.ENOMEM,
                    this + " is full, " + queue.capacity() + " receives",
                    "Post again after messages were received, or make the queue larger");
        }
        slot.workRequestId = request.id();
        WorkRequestChecks.copyList(POST, request.list(), slot.list, domain);
        queue.publish();
    }

    /** Checks that the queue is open; it is closed under the engine lock. */
    void requireOpen(String operation) {
        if (closed) {
            throw new ClosedException(operation, this + " is closed", "");
        }
    }

    // ---- attributes ----

    @Override
    public int number() {
        if (xrcDomain == null) {
            throw new RdmaException(
                    "ibv_get_srq_num", Errno.EOPNOTSUPP, this + " has no number", "Create it with an XRC domain");
        }
        return queue.number();
    }

    @Override
    public SharedReceiveQueueAttributes query() {
        engine.lock();
        try {
            requireOpen("ibv_query_srq");
            return new SharedReceiveQueueAttributes(queue.capacity(), queue.maxScatterGather(), queue.limit());
        } finally {
            engine.unlock();
        }
    }

    @Override
    public void setLimit(int receives) {
        engine.lock();
        try {
            requireOpen(MODIFY);
            range(MODIFY, "srq_limit", receives, 0, queue.capacity());
            queue.limit(receives);
        } finally {
            engine.unlock();
        }
    }

    @Override
    public void resize(int maxWorkRequests) {
        engine.lock();
        try {
            requireOpen(MODIFY);
            range(MODIFY, "max_wr", maxWorkRequests, Math.max(1, queue.limit()), Limits.MAX_WORK_REQUESTS);
            lock.lock();
            try {
                if (!queue.resize(maxWorkRequests)) {
                    throw new RdmaException(
                            MODIFY,
                            Errno.EINVAL,
                            queue.size() + " receives are posted to " + this + ", too many for a capacity of "
                                    + maxWorkRequests,
                            "Make it smaller when fewer are posted");
                }
            } finally {
                lock.unlock();
            }
        } finally {
            engine.unlock();
        }
    }

    // ---- end ----

    @Override
    public void close() {
        engine.lock();
        try {
            if (closed) {
                return;
            }
            if (users > 0) {
                throw new RdmaException(
                        "ibv_destroy_srq",
                        Errno.EBUSY,
                        users + " queue pairs take receives from " + this,
                        "Close the queue pairs first");
            }
            closed = true;
            queue.close();
            if (xrcDomain != null) {
                xrcDomain.domain().remove(queue);
            }
            if (completions != null) {
                completions.removeSharedReceiveQueue();
            }
        } finally {
            engine.unlock();
        }
        domain.softContext().finishEvents(this);
        domain.remove(this);
    }

    @Override
    public String toString() {
        return "shared receive queue of " + queue.capacity();
    }
}
