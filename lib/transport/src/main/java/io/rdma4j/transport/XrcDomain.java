package io.rdma4j.transport;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The shared receive queues that peers of extended reliable connections can address by number. All target queue pairs
 * of the domain can use all of them. Not thread safe: accessed by one thread at a time, the one that drives the queue
 * pairs.
 *
 * <p>Source: InfiniBand Architecture volume 1, annex A14.
 */
public final class XrcDomain {
    private int[] numbers = new int[4];
    private @Nullable SharedReceiveQueue[] queues = new @Nullable SharedReceiveQueue[4];
    private int size;

    /** Creates an empty domain. */
    public XrcDomain() {}

    /** Returns the number of shared receive queues. */
    public int size() {
        return size;
    }

    /** Adds a queue under its number, which must be unique in the domain. */
    public void add(SharedReceiveQueue queue) {
        if (size == numbers.length) {
            numbers = Arrays.copyOf(numbers, 2 * size);
            queues = Arrays.copyOf(queues, 2 * size);
        }
        int at = -Arrays.binarySearch(numbers, 0, size, queue.number()) - 1;
        System.arraycopy(numbers, at, numbers, at + 1, size - at);
        System.arraycopy(queues, at, queues, at + 1, size - at);
        numbers[at] = queue.number();
        queues[at] = queue;
        size++;
    }

    /** Removes a queue. */
    public void remove(SharedReceiveQueue queue) {
        int at = Arrays.binarySearch(numbers, 0, size, queue.number());
        if (at >= 0) {
            size--;
            System.arraycopy(numbers, at + 1, numbers, at, size - at);
            System.arraycopy(queues, at + 1, queues, at, size - at);
            queues[size] = null;
        }
    }

    /** Returns the queue with a number, or null. */
    @Nullable
    SharedReceiveQueue find(int number) {
        int at = Arrays.binarySearch(numbers, 0, size, number);
        return at < 0 ? null : queues[at];
    }
}
