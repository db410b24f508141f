package io.rdma4j.soft.device;

import io.rdma4j.soft.engine.SpinLock;
import io.rdma4j.verbs.PartialPostException;
import io.rdma4j.verbs.RdmaException;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Where threads that post to a queue come one after the other; requests posted together stay together. Thread safe, allocates
 * nothing.
 *
 * @param <R> kind of request
 */
final class PostLock<R> {
    private final SpinLock lock;
    private final Consumer<R> enqueue;
    private final Runnable afterwards;

    /**
     * Creates a line at which nobody is.
     *
     * @param lock what excludes others, and whoever else changes the queue
     * @param enqueue puts a request into the queue, under the lock, or throws why it cannot
     * @param afterwards runs without the lock when something was posted
     */
    PostLock(SpinLock lock, Consumer<R> enqueue, Runnable afterwards) {
        this.lock = lock;
        this.enqueue = enqueue;
        this.afterwards = afterwards;
    }

    void post(R request) {
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
     * @throws PartialPostException at the first that cannot be posted
     */
    void postAll(R[] requests, int count) {
        Objects.checkFromIndexSize(0, count, requests.length);
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
