package io.rdma4j.cm;

import org.jspecify.annotations.Nullable;

/** Counts the events of one identifier that the application has taken, and those of them that it has acknowledged. */
final class AcknowledgementCount {
    private final @Nullable AcknowledgementCount whole;
    private long taken;
    private long acknowledged;

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

    synchronized void taken() {
        taken++;
    }

    void acknowledged() {
        synchronized (this) {
            acknowledged++;
            notifyAll();
        }
        if (whole != null) {
            whole.acknowledged();
        }
    }

    /**
     * Waits until every event taken is acknowledged.
     *
     * @return false if the thread was interrupted; its flag stays set
     */
    synchronized boolean awaitAll() {
        try {
            while (acknowledged < taken) {
                wait();
            }
            return true;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
