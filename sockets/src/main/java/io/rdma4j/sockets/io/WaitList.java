package io.rdma4j.sockets.io;

import java.util.concurrent.CopyOnWriteArrayList;

/** The waiting threads and selectors to signal when the readiness of an endpoint changes. Thread safe. */
final class WaitList {
    private final CopyOnWriteArrayList<SocketWaiter> waiters = new CopyOnWriteArrayList<>();
    private final CopyOnWriteArrayList<Runnable> listeners = new CopyOnWriteArrayList<>();

    void add(SocketWaiter waiter) {
        waiters.add(waiter);
    }

    void remove(SocketWaiter waiter) {
        waiters.remove(waiter);
    }

    void add(Runnable listener) {
        listeners.add(listener);
    }

    void remove(Runnable listener) {
        listeners.remove(listener);
    }

    void signalAll() {
        for (SocketWaiter waiter : waiters) {
            waiter.signal();
        }
        for (Runnable listener : listeners) {
            listener.run();
        }
    }
}
