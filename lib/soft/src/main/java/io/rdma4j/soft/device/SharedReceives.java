package io.rdma4j.soft.device;

import io.rdma4j.transport.CompletionSink;
import io.rdma4j.transport.ReceiveRequest;
import io.rdma4j.transport.SharedReceiveQueue;
import io.rdma4j.verbs.spi.SpinLock;
import org.jspecify.annotations.Nullable;

/** Shared receives that the queue pairs of several engines consume, one at a time. */
final class SharedReceives extends SharedReceiveQueue {
    private final SpinLock consumers = new SpinLock();

    SharedReceives(
            int capacity,
            int maxScatterGather,
            int protectionDomain,
            Runnable onLimit,
            int number,
            @Nullable CompletionSink completions) {
        super(capacity, maxScatterGather, protectionDomain, onLimit, number, completions);
    }

    @Override
    protected @Nullable ReceiveRequest take() {
        consumers.lock();
        try {
            return super.take();
        } finally {
            consumers.unlock();
        }
    }

    @Override
    protected void release(ReceiveRequest done) {
        consumers.lock();
        try {
            super.release(done);
        } finally {
            consumers.unlock();
        }
    }

    @Override
    public void limit(int receives) {
        consumers.lock();
        try {
            super.limit(receives);
        } finally {
            consumers.unlock();
        }
    }

    @Override
    public boolean resize(int capacity) {
        consumers.lock();
        try {
            return super.resize(capacity);
        } finally {
            consumers.unlock();
        }
    }
}
