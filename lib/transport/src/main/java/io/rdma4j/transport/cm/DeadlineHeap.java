package io.rdma4j.transport.cm;

import java.util.Arrays;

/**
 * A binary heap of entries ordered by deadline. Each entry knows its index, so that it can be rescheduled or removed.
 */
final class DeadlineHeap {
    private static final int INITIAL_CAPACITY = 16;

    private DeadlineEntry[] heap = new DeadlineEntry[INITIAL_CAPACITY];
    private int size;

    /** Returns the entry with the earliest deadline; the heap must not be empty. */
    DeadlineEntry first() {
        return heap[0];
    }

    int size() {
        return size;
    }

    long firstDeadlineNanos() {
        return size == 0 ? Long.MAX_VALUE : heap[0].deadlineNanos;
    }

    /** Sets an entry's deadline; {@link Long#MAX_VALUE} removes it. */
    void schedule(DeadlineEntry entry, long deadlineNanos) {
        entry.deadlineNanos = deadlineNanos;
        if (deadlineNanos == Long.MAX_VALUE) {
            remove(entry);
            return;
        }
        if (entry.heapIndex < 0) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, size * 2);
            }
            set(entry, size++);
        }
        siftUp(entry.heapIndex);
        siftDown(entry.heapIndex);
    }

    private void remove(DeadlineEntry entry) {
        int index = entry.heapIndex;
        if (index < 0) {
            return;
        }
        DeadlineEntry last = heap[--size];
        clear(size);
        entry.heapIndex = -1;
        if (index < size) {
            set(last, index);
            siftUp(index);
            siftDown(last.heapIndex);
        }
    }

    @SuppressWarnings("NullAway") // elements from index size on are null and never read
    private void clear(int index) {
        heap[index] = null;
    }

    private void set(DeadlineEntry entry, int index) {
        heap[index] = entry;
        entry.heapIndex = index;
    }

    private void siftUp(int from) {
        DeadlineEntry moving = heap[from];
        int index = from;
        while (index > 0) {
            DeadlineEntry parent = heap[(index - 1) / 2];
            if (parent.deadlineNanos <= moving.deadlineNanos) {
                break;
            }
            set(parent, index);
            index = (index - 1) / 2;
        }
        set(moving, index);
    }

    private void siftDown(int from) {
        DeadlineEntry moving = heap[from];
        int index = from;
        while (true) {
            int child = 2 * index + 1;
            if (child + 1 < size && heap[child + 1].deadlineNanos < heap[child].deadlineNanos) {
                child++;
            }
            if (child >= size || heap[child].deadlineNanos >= moving.deadlineNanos) {
                break;
            }
            set(heap[child], index);
            index = child;
        }
        set(moving, index);
    }
}
