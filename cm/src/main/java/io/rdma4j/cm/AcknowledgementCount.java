package io.rdma4j.cm;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** Counts the events of one identifier that the application has taken, and those of them that it has acknowledged. */
final class AcknowledgementCount {
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
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

    void taken() {
        lock.lock();
        try {
            taken++;
        } finally {
            lock.unlock();
        }
    }

    void acknowledged() {
        lock.lock();
        try {
            acknowledged++;
            changed.signalAll();
        } finally {
            lock.unlock();
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
    boolean awaitAll() {
        lock.lock();
        try {
            while (acknowledged < taken) {
                changed.await();
            }
            return true;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            lock.unlock();
        }
    }
}
