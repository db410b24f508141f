package io.rdma4j.cm;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Counts the events of one identifier that the application has taken but not acknowledged. Thread safe. */
final class AcknowledgementCount {
    private final @Nullable AcknowledgementCount parent;

    /** For each unacknowledged event, the ID of the thread that took it. */
    private final List<Long> takers = new ArrayList<>();

    AcknowledgementCount() {
        parent = null;
    }

    private AcknowledgementCount(AcknowledgementCount parent) {
        this.parent = parent;
    }

    /** Returns a count for a subset of these events. An acknowledgement there is also counted here. */
    AcknowledgementCount newChild() {
        return new AcknowledgementCount(this);
    }

    /** Counts an event that the calling thread takes. */
    synchronized void taken() {
        takers.add(Thread.currentThread().threadId());
    }

    /**
     * Counts an acknowledgement, by any thread.
     *
     * @param taker ID of the thread that took the event
     */
    void acknowledged(long taker) {
        synchronized (this) {
            takers.remove((Long) taker);
            notifyAll();
        }
        if (parent != null) {
            parent.acknowledged(taker);
        }
    }

    /**
     * Waits until every event taken by other threads is acknowledged. Events that the calling thread took are excluded,
     * since it could not acknowledge them during the wait.
     *
     * @return false if the thread was interrupted; its interrupt status stays set
     */
    synchronized boolean awaitAll() {
        try {
            while (isHeldByAnother()) {
                wait();
            }
            return true;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private boolean isHeldByAnother() {
        long self = Thread.currentThread().threadId();
        for (Long taker : takers) {
            if (taker != self) {
                return true;
            }
        }
        return false;
    }
}
