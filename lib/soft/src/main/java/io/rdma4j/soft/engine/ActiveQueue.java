package io.rdma4j.soft.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Schedules queue pairs for transmission.
 *
 * <p>Every second quantum goes to a queue pair that has just become active, so a short message waits for at most one
 * quantum of a bulk transfer (decision 029). Bulk transfers get at least half of the quanta. Both groups are served in
 * FIFO order. Used under the engine lock; allocates nothing.
 */
final class ActiveQueue {
    private final Fifo newlyActive = new Fifo();
    private final Fifo continuing = new Fifo();
    private boolean lastWasNew;

    /** Returns whether no queue pair is queued. */
    boolean isEmpty() {
        return newlyActive.isEmpty() && continuing.isEmpty();
    }

    /** Adds a queue pair that has just become active and is not queued. */
    void addNew(DrivenQueuePair queuePair) {
        newlyActive.append(queuePair);
    }

    /** Adds a queue pair that has used its quantum and has more to send. */
    void addContinuing(DrivenQueuePair queuePair) {
        continuing.append(queuePair);
    }

    /** Removes and returns the next queue pair. The queue must not be empty. */
    DrivenQueuePair next() {
        lastWasNew = !newlyActive.isEmpty() && (continuing.isEmpty() || !lastWasNew);
        return (lastWasNew ? newlyActive : continuing).remove();
    }

    /** A list that is linked through the queue pairs themselves. Each queue pair is in at most one list. */
    private static final class Fifo {
        private @Nullable DrivenQueuePair first;
        private @Nullable DrivenQueuePair last;

        boolean isEmpty() {
            return first == null;
        }

        void append(DrivenQueuePair queuePair) {
            queuePair.nextActive = null;
            if (last == null) {
                first = queuePair;
            } else {
                last.nextActive = queuePair;
            }
            last = queuePair;
        }

        DrivenQueuePair remove() {
            DrivenQueuePair removed = Objects.requireNonNull(first, "the queue is empty");
            first = removed.nextActive;
            if (first == null) {
                last = null;
            }
            removed.nextActive = null;
            return removed;
        }
    }
}
