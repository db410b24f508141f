package io.rdma4j.soft.engine;

import io.rdma4j.verbs.spi.SpinLock;
import io.rdma4j.verbs.wait.Waiter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Waiting threads, the newest first. A wait allocates nothing: the entries of threads that no longer wait are reused. Thread
 * safe.
 */
final class WaiterList {
    private static final class Entry {
        private @Nullable Waiter waiter;
        private @Nullable Entry next;
    }

    /** Guards the entries. */
    private final SpinLock lock = new SpinLock();

    private @Nullable Entry first;
    private @Nullable Entry unused;
    private volatile @Nullable Waiter newest;

    /** Returns whether no thread waits. */
    boolean isEmpty() {
        return newest == null;
    }

    /** Returns the newest waiter, or null. */
    @Nullable
    Waiter peekFirst() {
        return newest;
    }

    /** Adds a waiter as the newest one. */
    void addFirst(Waiter waiter) {
        lock.lock();
        try {
            Entry entry = unused;
            if (entry == null) {
                entry = new Entry();
            } else {
                unused = entry.next;
            }
            entry.waiter = waiter;
            entry.next = first;
            first = entry;
            newest = waiter;
        } finally {
            lock.unlock();
        }
    }

    /** Removes a waiter, if it is there. */
    void remove(Waiter waiter) {
        lock.lock();
        try {
            Entry before = null;
            Entry entry = first;
            while (entry != null && entry.waiter != waiter) {
                before = entry;
                entry = entry.next;
            }
            if (entry != null) {
                unlink(before, entry);
            }
        } finally {
            lock.unlock();
        }
    }

    private void unlink(@Nullable Entry before, Entry entry) {
        if (before == null) {
            Entry next = entry.next;
            first = next;
            newest = next == null ? null : next.waiter;
        } else {
            before.next = entry.next;
        }
        entry.waiter = null;
        entry.next = unused;
        unused = entry;
    }

    /** Wakes all waiters. */
    void wakeAll() {
        List<Waiter> all = new ArrayList<>();
        lock.lock();
        try {
            for (Entry entry = first; entry != null; entry = entry.next) {
                Waiter waiter = entry.waiter;
                if (waiter != null) {
                    all.add(waiter);
                }
            }
        } finally {
            lock.unlock();
        }
        all.forEach(Waiter::wake);
    }
}
