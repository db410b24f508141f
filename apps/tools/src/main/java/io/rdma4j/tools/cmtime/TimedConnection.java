package io.rdma4j.tools.cmtime;

import io.rdma4j.cm.CmId;
import io.rdma4j.verbs.QueuePair;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** A connection of a run. Thread safe. */
final class TimedConnection {
    final Stopwatch<Step> times = new Stopwatch<>(Step.class);
    private final @Nullable InetSocketAddress peer;
    private final AtomicBoolean disconnecting = new AtomicBoolean();
    private volatile @Nullable CmId id;
    private volatile @Nullable QueuePair queuePair;
    private int retriesLeft;

    /**
     * Creates a connection.
     *
     * @param peer the server's address, or null for a server's connection
     */
    TimedConnection(@Nullable InetSocketAddress peer) {
        this.peer = peer;
    }

    InetSocketAddress peer() {
        return Objects.requireNonNull(peer);
    }

    CmId id() {
        return Objects.requireNonNull(id);
    }

    void id(CmId created) {
        id = created;
        created.setContext(this);
    }

    @Nullable
    QueuePair queuePair() {
        return queuePair;
    }

    void queuePair(QueuePair created) {
        queuePair = created;
    }

    /** Sets the number of remaining retries. */
    synchronized void retries(int count) {
        retriesLeft = count;
    }

    /** Consumes one of the retries, and returns whether one was left. */
    synchronized boolean retry() {
        return retriesLeft-- > 0;
    }

    /** Returns true for the first caller, which must disconnect the connection. */
    boolean beginDisconnecting() {
        return disconnecting.compareAndSet(false, true);
    }

    void destroyQueuePair() {
        QueuePair current = queuePair;
        if (current != null) {
            times.start(Step.DESTROY_QUEUE_PAIR);
            current.close();
            times.end(Step.DESTROY_QUEUE_PAIR);
            queuePair = null;
        }
    }

    void destroyId() {
        CmId current = id;
        if (current != null) {
            times.start(Step.DESTROY_ID);
            current.close();
            times.end(Step.DESTROY_ID);
            id = null;
        }
    }
}
