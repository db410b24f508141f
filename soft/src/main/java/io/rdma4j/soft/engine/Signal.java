package io.rdma4j.soft.engine;

import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A condition that threads wait for with {@link Engine#await}, such as an event of a completion channel or an event
 * channel. Thread safe.
 *
 * <p>A thread that changes the state that waiters check calls {@link #raise} after the change. That costs two loads and
 * a fence while no thread waits.
 */
public final class Signal {
    private final ConcurrentLinkedQueue<EngineWaiter> waiters = new ConcurrentLinkedQueue<>();

    /** Creates a signal without waiters. */
    public Signal() {}

    /** Makes all waiters check their conditions again. */
    public void raise() {
        // The change precedes the check of the list: a waiter enters the list before it checks the state.
        VarHandle.fullFence();
        if (waiters.isEmpty()) {
            return;
        }
        for (EngineWaiter waiter : waiters) {
            waiter.wake();
        }
    }

    void add(EngineWaiter waiter) {
        waiters.add(waiter);
        VarHandle.fullFence();
    }

    void remove(EngineWaiter waiter) {
        var _ = waiters.remove(waiter);
    }
}
