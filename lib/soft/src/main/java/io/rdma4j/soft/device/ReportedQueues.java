package io.rdma4j.soft.device;

import org.jspecify.annotations.Nullable;

/**
 * The completion queues with events waiting in a completion channel, in the order of the events. Adding an event allocates
 * nothing: it would otherwise be lost when the heap is full, although its completion is in the queue. Not thread safe.
 */
final class ReportedQueues {
    private @Nullable SoftCompletionQueue first;
    private @Nullable SoftCompletionQueue last;
    private int events;

    /** Adds an event of a queue. Further events of a queue come after the first events of the others. */
    void add(SoftCompletionQueue queue) {
        events++;
        queue.waitingEvents++;
        if (queue.waitingEvents == 1) {
            append(queue);
        }
    }

    /** Removes the first event and returns its queue, or null if there is none. */
    @Nullable
    SoftCompletionQueue poll() {
        SoftCompletionQueue queue = first;
        if (queue == null) {
            return null;
        }
        events--;
        queue.waitingEvents--;
        unlink(null, queue);
        if (queue.waitingEvents > 0) {
            append(queue);
        }
        return queue;
    }

    /** Removes all events of a queue. */
    void remove(SoftCompletionQueue queue) {
        SoftCompletionQueue previous = null;
        for (SoftCompletionQueue each = first; each != null; each = each.nextReported) {
            if (each == queue) {
                events -= queue.waitingEvents;
                queue.waitingEvents = 0;
                unlink(previous, queue);
                return;
            }
            previous = each;
        }
    }

    /** Returns the number of events. */
    int size() {
        return events;
    }

    private void append(SoftCompletionQueue queue) {
        if (last == null) {
            first = queue;
        } else {
            last.nextReported = queue;
        }
        last = queue;
    }

    private void unlink(@Nullable SoftCompletionQueue previous, SoftCompletionQueue queue) {
        if (previous == null) {
            first = queue.nextReported;
        } else {
            previous.nextReported = queue.nextReported;
        }
        if (last == queue) {
            last = previous;
        }
        queue.nextReported = null;
    }
}
