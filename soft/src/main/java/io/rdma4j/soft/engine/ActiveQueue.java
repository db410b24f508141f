package io.rdma4j.soft.engine;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is to send. Every other turn is of a queue pair that had nothing to send before it came: so a short message
 * waits for one turn of those with long ones, not for a turn of each; and those with long ones have half of the turns at
 * least. Within both kinds who came first is first. Under the engine lock; allocates nothing.
 */
final class ActiveQueue {
    private final Line beginners = new Line();
    private final Line others = new Line();
    private boolean wasBeginner;

    /** Whether nobody waits. */
    boolean isEmpty() {
        return beginners.isEmpty() && others.isEmpty();
    }

    /** Takes in one that had nothing to send, and does not wait yet. */
    void begin(DrivenQueuePair queuePair) {
        beginners.append(queuePair);
    }

    /** Takes in one that had a turn and has more to send. */
    void goOn(DrivenQueuePair queuePair) {
        others.append(queuePair);
    }

    /** The next one, which waits no more; not if there is none. */
    DrivenQueuePair next() {
        wasBeginner = !beginners.isEmpty() && (others.isEmpty() || !wasBeginner);
        return (wasBeginner ? beginners : others).take();
    }

    /** Linked by the queue pairs themselves, each of which stands in one line at most. */
    private static final class Line {
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

        DrivenQueuePair take() {
            DrivenQueuePair taken = Objects.requireNonNull(first, "nobody waits");
            first = taken.nextActive;
            if (first == null) {
                last = null;
            }
            taken.nextActive = null;
            return taken;
        }
    }
}
