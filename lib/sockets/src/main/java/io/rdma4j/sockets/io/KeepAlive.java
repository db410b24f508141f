package io.rdma4j.sockets.io;

import io.rdma4j.verbs.wait.Waiter;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Sends keep-alives for one endpoint, from a virtual thread, until it is stopped. Resets the connection if a keep-alive
 * stays unanswered for too long.
 */
final class KeepAlive {
    private final StreamEndpoint endpoint;
    private final KeepAliveTimes times;
    private final Thread thread;

    KeepAlive(StreamEndpoint endpoint, KeepAliveTimes times) {
        this.endpoint = endpoint;
        this.times = times;
        this.thread = Thread.ofVirtual().name("rdma4j-keep-alive").start(this::run);
    }

    void stop() {
        thread.interrupt();
    }

    private void run() {
        try {
            while (endpoint.state() == StreamEndpoint.State.CONNECTED) {
                Thread.sleep(Duration.ofSeconds(times.idleSeconds()));
                long before = endpoint.keepAlive();
                if (!isAnswered(before)) {
                    endpoint.reset("the peer has not answered a keep-alive for " + times.limitSeconds() + " s");
                    return;
                }
            }
        } catch (InterruptedException | IOException ended) {
            Thread.currentThread().interrupt(); // stopped, or the connection has ended
        }
    }

    /** Waits until the peer has acknowledged or sent anything. Returns false on timeout. */
    private boolean isAnswered(long before) throws InterruptedException, IOException {
        Waiter waiter = new Waiter();
        endpoint.changed.add(waiter);
        try {
            long deadlineNanos = endpoint.nanoTime() + TimeUnit.SECONDS.toNanos(times.limitSeconds());
            while (true) {
                waiter.reset();
                if (endpoint.completionsToWait() != before) {
                    return true;
                }
                if (!endpoint.await(waiter, deadlineNanos)) {
                    if (Thread.interrupted()) {
                        throw new InterruptedException();
                    }
                    return endpoint.completionsToWait() != before;
                }
            }
        } finally {
            endpoint.changed.remove(waiter);
        }
    }
}
