package io.rdma4j.sockets.io;

import io.rdma4j.cm.host.ExitTasks;
import java.util.concurrent.TimeUnit;

/**
 * Counts closed connections whose peers have not yet received everything. An exiting process waits for them, as a
 * kernel continues to deliver what a program has written to TCP. Thread safe.
 */
final class PendingCloses {
    /** The time that an exiting process waits: several retransmissions, and less than a service manager allows. */
    private static final long MAX_NANOS = 10_000_000_000L;

    private static final PendingCloses ALL = new PendingCloses();

    static {
        ExitTasks.addTask(ALL::awaitAll);
    }

    private int count;

    private PendingCloses() {}

    static PendingCloses all() {
        return ALL;
    }

    synchronized void begun() {
        count++;
    }

    synchronized void ended() {
        count--;
        if (count == 0) {
            notifyAll();
        }
    }

    private synchronized void awaitAll() {
        long deadline = SystemTime.nanos() + MAX_NANOS; // a service manager measures an exit in the system's time
        long remaining = MAX_NANOS;
        while (count > 0 && remaining > 0) {
            try {
                TimeUnit.NANOSECONDS.timedWait(this, remaining);
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                return;
            }
            remaining = deadline - SystemTime.nanos();
        }
    }
}
