package io.rdma4j.soft.engine;

import io.rdma4j.verbs.spi.SharedThread;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A heap of deadlines.
 *
 * <p>Moving a deadline later, as each acknowledgement does with the retransmission timer, costs one store: the item
 * keeps its position under the earlier key, and is moved when it reaches the top. Used under the engine lock.
 */
final class DeadlineQueue {
    private static final long AGAIN_NANOS = 50_000_000;

    private @Nullable DeadlineTask[] heap = new @Nullable DeadlineTask[64];
    private int size;

    /** Reserves space for a number of items, up to which {@link #schedule} allocates nothing and cannot fail. */
    void reserve(int items) {
        if (items > heap.length) {
            heap = Arrays.copyOf(heap, Math.max(items, 2 * heap.length));
        }
    }

    /** Sets, moves or (with {@link Long#MAX_VALUE}) cancels an item's deadline. */
    void schedule(DeadlineTask item, long deadlineNanos) {
        item.deadlineNanos = deadlineNanos;
        if (item.index < 0) {
            if (deadlineNanos != Long.MAX_VALUE) {
                insert(item);
            }
        } else if (deadlineNanos < item.keyNanos) {
            item.keyNanos = deadlineNanos;
            siftUp(item.index, item);
        }
    }

    /** Removes an item. */
    void remove(DeadlineTask item) {
        item.deadlineNanos = Long.MAX_VALUE;
        int hole = item.index;
        if (hole < 0) {
            return;
        }
        item.index = -1;
        DeadlineTask last = at(--size);
        heap[size] = null;
        if (hole != size) {
            siftUp(hole, last);
            siftDown(last.index, last);
        }
    }

    /** Returns the earliest deadline, or {@link Long#MAX_VALUE}. */
    long nextDeadlineNanos() {
        while (size > 0) {
            DeadlineTask top = at(0);
            if (top.deadlineNanos == top.keyNanos) {
                return top.keyNanos;
            }
            settle(top);
        }
        return Long.MAX_VALUE;
    }

    /** Runs all items whose deadlines have passed. */
    void runDue(long nowNanos) {
        while (size > 0) {
            DeadlineTask top = at(0);
            if (top.keyNanos > nowNanos) {
                return;
            }
            if (top.deadlineNanos > nowNanos) {
                settle(top);
            } else {
                remove(top);
                run(top, nowNanos);
            }
        }
    }

    /** Runs an item. An item that fails runs again soon, and does not affect the others. */
    private void run(DeadlineTask item, long nowNanos) {
        try {
            item.onDeadline(nowNanos);
        } catch (RuntimeException | Error fault) {
            SharedThread.report(DeadlineQueue.class, "a timer failed: it runs again", fault);
            schedule(item, nowNanos + AGAIN_NANOS);
        }
    }

    /** Moves the top item to its position after its deadline has moved. */
    private void settle(DeadlineTask top) {
        if (top.deadlineNanos == Long.MAX_VALUE) {
            remove(top);
        } else {
            top.keyNanos = top.deadlineNanos;
            siftDown(0, top);
        }
    }

    private void insert(DeadlineTask item) {
        if (size == heap.length) {
            heap = Arrays.copyOf(heap, size * 2);
        }
        item.keyNanos = item.deadlineNanos;
        siftUp(size, item);
        size++; // last: if there is no stack left for the call above, nothing has changed
    }

    private DeadlineTask at(int index) {
        return Objects.requireNonNull(heap[index]);
    }

    private void put(int index, DeadlineTask item) {
        heap[index] = item;
        item.index = index;
    }

    private void siftUp(int start, DeadlineTask item) {
        int i = start;
        while (i > 0) {
            int up = (i - 1) >>> 1;
            DeadlineTask parent = at(up);
            if (parent.keyNanos <= item.keyNanos) {
                break;
            }
            put(i, parent);
            i = up;
        }
        put(i, item);
    }

    private void siftDown(int start, DeadlineTask item) {
        int i = start;
        while (true) {
            int child = 2 * i + 1;
            if (child >= size) {
                break;
            }
            if (child + 1 < size && at(child + 1).keyNanos < at(child).keyNanos) {
                child++;
            }
            if (at(child).keyNanos >= item.keyNanos) {
                break;
            }
            put(i, at(child));
            i = child;
        }
        put(i, item);
    }
}
