package io.rdma4j.sockets.io;

import io.rdma4j.cm.host.ExitTasks;
import java.util.concurrent.TimeUnit;

/**
 * Counts closed connections with data that the peer has not received yet. An exiting process waits for them, since a
 * kernel also continues to deliver data after the exit of a program that used TCP. Thread safe.
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
        long deadline = SystemTime.nanos() + MAX_NANOS; // system time: a service manager measures it
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
