package io.rdma4j.transport.cm;

import java.util.Arrays;

/** Things ordered by their deadline: a binary heap in which each knows its place, so that it can move or leave. */
final class DeadlineHeap {
    private static final int INITIAL_CAPACITY = 16;

    private DeadlineEntry[] heap = new DeadlineEntry[INITIAL_CAPACITY];
    private int size;

    /** The one whose deadline comes first; the heap must not be empty. */
    DeadlineEntry first() {
        return heap[0];
    }

    int size() {
        return size;
    }

    long firstDeadlineNanos() {
        return size == 0 ? Long.MAX_VALUE : heap[0].deadlineNanos;
    }

    /** Sets an item's deadline; {@link Long#MAX_VALUE} takes it out. */
    void schedule(DeadlineEntry item, long deadlineNanos) {
        item.deadlineNanos = deadlineNanos;
        if (deadlineNanos == Long.MAX_VALUE) {
            remove(item);
            return;
        }
        if (item.heapIndex < 0) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, size * 2);
            }
            place(item, size++);
        }
        siftUp(item.heapIndex);
        siftDown(item.heapIndex);
    }

    private void remove(DeadlineEntry item) {
        int hole = item.heapIndex;
        if (hole < 0) {
            return;
        }
        DeadlineEntry last = heap[--size];
        clear(size);
        item.heapIndex = -1;
        if (hole < size) {
            place(last, hole);
            siftUp(hole);
            siftDown(last.heapIndex);
        }
    }

    @SuppressWarnings("NullAway") // beyond size the array holds nothing, and nothing reads there
    private void clear(int index) {
        heap[index] = null;
    }

    private void place(DeadlineEntry item, int index) {
        heap[index] = item;
        item.heapIndex = index;
    }

    private void siftUp(int from) {
        DeadlineEntry moving = heap[from];
        int index = from;
        while (index > 0) {
            DeadlineEntry parent = heap[(index - 1) / 2];
            if (parent.deadlineNanos <= moving.deadlineNanos) {
                break;
            }
            place(parent, index);
            index = (index - 1) / 2;
        }
        place(moving, index);
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
            place(heap[child], index);
            index = child;
        }
        place(moving, index);
    }
}
