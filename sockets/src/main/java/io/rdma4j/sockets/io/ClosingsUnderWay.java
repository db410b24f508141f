package io.rdma4j.sockets.io;

import io.rdma4j.cm.spi.ProcessEnd;
import java.util.concurrent.TimeUnit;

/**
 * Counts the connections that are closed and whose peers do not have everything yet. A process that ends waits for them, as
 * a kernel would go on to deliver what a program has written to TCP. Thread safe.
 */
final class ClosingsUnderWay {
    /** How long a process that ends waits: several repeats of lost packets, and no longer than a service manager waits. */
    private static final long MOST_NANOS = 10_000_000_000L;

    private static final ClosingsUnderWay ALL = new ClosingsUnderWay();

    static {
        ProcessEnd.beforeParting(ALL::awaitAll);
    }

    private int count;

    private ClosingsUnderWay() {}

    static ClosingsUnderWay all() {
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
        long deadline = System.nanoTime() + MOST_NANOS;
        long left = MOST_NANOS;
        while (count > 0 && left > 0) {
            try {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            } catch (InterruptedException hurried) {
                Thread.currentThread().interrupt();
                return;
            }
            left = deadline - System.nanoTime();
        }
    }
}
