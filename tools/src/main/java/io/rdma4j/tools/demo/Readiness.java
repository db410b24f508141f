package io.rdma4j.tools.demo;

import io.rdma4j.tools.ToolProcess;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Knows from the lines of a server when clients may come. Thread safe. */
final class Readiness {
    private static final long LISTEN_MILLIS = 100;
    private static final long CHECK_MILLIS = 100;

    private final CountDownLatch ready = new CountDownLatch(1);

    void onLine(String line) {
        if (line.equals("rdma_listen")) {
            ready.countDown();
        }
    }

    /** Waits until the server listens; false if it has ended or is not ready in time. */
    boolean await(ToolProcess server, long timeoutSeconds) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        while (!ready.await(CHECK_MILLIS, TimeUnit.MILLISECONDS)) {
            if (!server.isAlive() || System.nanoTime() - deadline > 0) {
                return false;
            }
        }
        // The line is printed just before the call.
        Thread.sleep(LISTEN_MILLIS);
        return true;
    }
}
