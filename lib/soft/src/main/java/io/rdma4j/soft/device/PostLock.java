package io.rdma4j.soft.device;

import io.rdma4j.verbs.PartialPostException;
import io.rdma4j.verbs.RdmaException;
import io.rdma4j.verbs.spi.SpinLock;
import io.rdma4j.verbs.spi.StackReserve;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Serializes the threads that post to a queue. Thread safe, allocates nothing.
 *
 * <p>Requests that are posted together stay together.
 *
 * @param <R> type of the request
 */
final class PostLock<R> {
    private final SpinLock lock;
    private final Consumer<R> enqueue;
    private final Runnable afterwards;

    /**
     * Creates a lock that is free.
     *
     * @param lock excludes other posters, and other threads that change the queue
     * @param enqueue appends a request to the queue, under the lock, or throws the reason why it cannot
     * @param afterwards runs without the lock after something was posted
     */
    PostLock(SpinLock lock, Consumer<R> enqueue, Runnable afterwards) {
        this.lock = lock;
        this.enqueue = enqueue;
        this.afterwards = afterwards;
    }

    void post(R request) {
        StackReserve.require();
        lock.lock();
        try {
            enqueue.accept(request);
        } finally {
            lock.unlock();
        }
        afterwards.run();
    }

    /**
     * Posts the first {@code count} requests.
     *
     * @throws PartialPostException at the first request that cannot be posted
     */
    void postAll(R[] requests, int count) {
        Objects.checkFromIndexSize(0, count, requests.length);
        StackReserve.require();
        int posted = 0;
        lock.lock();
        try {
            while (posted < count) {
                enqueue.accept(requests[posted]);
                posted++;
            }
        } catch (RdmaException e) {
            throw new PartialPostException(posted, e);
        } finally {
            lock.unlock();
            if (posted > 0) {
                afterwards.run();
            }
        }
    }
}
