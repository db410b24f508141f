package io.rdma4j.soft.engine;

import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * A place to wait at, with {@link Engine#await}: of a completion channel, of an event channel. Thread safe.
 *
 * <p>Who changes what waiters look at calls {@link #raise} after the change. That costs two loads and a fence while
 * nobody waits.
 */
public final class Signal {
    private final ConcurrentLinkedQueue<EngineWaiter> waiters = new ConcurrentLinkedQueue<>();

    /** Creates a place where nobody waits. */
    public Signal() {}

    /** Lets all that wait here look again. */
    public void raise() {
        // The change before the look at the list: a waiter enters the list before it looks at what changed.
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
