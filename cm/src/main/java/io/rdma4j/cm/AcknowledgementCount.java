package io.rdma4j.cm;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Knows the events of one identifier that the application has taken and not acknowledged. Thread safe. */
final class AcknowledgementCount {
    private final @Nullable AcknowledgementCount whole;

    /** For each event that is not acknowledged, the thread that took it. */
    private final List<Long> takers = new ArrayList<>();

    AcknowledgementCount() {
        whole = null;
    }

    private AcknowledgementCount(AcknowledgementCount whole) {
        this.whole = whole;
    }

    /** A count of some of these events: what is acknowledged there is acknowledged here too. */
    AcknowledgementCount part() {
        return new AcknowledgementCount(this);
    }

    /** The thread that calls takes an event. */
    synchronized void taken() {
        takers.add(Thread.currentThread().threadId());
    }

    /**
     * An event is acknowledged, by any thread.
     *
     * @param taker number of the thread that took it
     */
    void acknowledged(long taker) {
        synchronized (this) {
            takers.remove((Long) taker);
            notifyAll();
        }
        if (whole != null) {
            whole.acknowledged(taker);
        }
    }

    /**
     * Waits until every event that another thread took is acknowledged. Those that the calling thread took are left out:
     * it could not acknowledge them while it waits.
     *
     * @return false if the thread was interrupted; its flag stays set
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
