package io.rdma4j.transport.cm;

import java.util.Arrays;

/** Connections ordered by their deadline: a binary heap in which each knows its place, so that it can move or leave. */
final class DeadlineHeap {
    private static final int INITIAL_CAPACITY = 16;

    private CmConnection[] heap = new CmConnection[INITIAL_CAPACITY];
    private int size;

    /** The connection whose deadline comes first; the heap must not be empty. */
    CmConnection first() {
        return heap[0];
    }

    int size() {
        return size;
    }

    long firstDeadlineNanos() {
        return size == 0 ? Long.MAX_VALUE : heap[0].deadlineNanos;
    }

    /** Sets a connection's deadline; {@link Long#MAX_VALUE} takes it out. */
    void schedule(CmConnection connection, long deadlineNanos) {
        connection.deadlineNanos = deadlineNanos;
        if (deadlineNanos == Long.MAX_VALUE) {
            remove(connection);
            return;
        }
        if (connection.heapIndex < 0) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, size * 2);
            }
            place(connection, size++);
        }
        siftUp(connection.heapIndex);
        siftDown(connection.heapIndex);
    }

    private void remove(CmConnection connection) {
        int hole = connection.heapIndex;
        if (hole < 0) {
            return;
        }
        CmConnection last = heap[--size];
        clear(size);
        connection.heapIndex = -1;
        if (last != connection) {
            place(last, hole);
            siftUp(hole);
            siftDown(last.heapIndex);
        }
    }

    @SuppressWarnings("NullAway") // beyond size the array holds nothing, and nothing reads there
    private void clear(int index) {
        heap[index] = null;
    }

    private void place(CmConnection connection, int index) {
        heap[index] = connection;
        connection.heapIndex = index;
    }

    private void siftUp(int from) {
        CmConnection moving = heap[from];
        int index = from;
        while (index > 0) {
            CmConnection parent = heap[(index - 1) / 2];
            if (parent.deadlineNanos <= moving.deadlineNanos) {
                break;
            }
            place(parent, index);
            index = (index - 1) / 2;
        }
        place(moving, index);
    }

    private void siftDown(int from) {
        CmConnection moving = heap[from];
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
