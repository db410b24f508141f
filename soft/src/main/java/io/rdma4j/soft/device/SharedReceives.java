package io.rdma4j.soft.device;

import io.rdma4j.soft.engine.SpinLock;
import io.rdma4j.transport.CompletionSink;
import io.rdma4j.transport.ReceiveRequest;
import io.rdma4j.transport.SharedReceiveQueue;
import org.jspecify.annotations.Nullable;

/** Shared receives that the queue pairs of several engines take, one at a time. */
final class SharedReceives extends SharedReceiveQueue {
    private final SpinLock takers = new SpinLock();

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
        takers.lock();
        try {
            return super.take();
        } finally {
            takers.unlock();
        }
    }

    @Override
    protected void release(ReceiveRequest done) {
        takers.lock();
        try {
            super.release(done);
        } finally {
            takers.unlock();
        }
    }

    @Override
    public void limit(int receives) {
        takers.lock();
        try {
            super.limit(receives);
        } finally {
            takers.unlock();
        }
    }

    @Override
    public boolean resize(int capacity) {
        takers.lock();
        try {
            return super.resize(capacity);
        } finally {
            takers.unlock();
        }
    }
}
