package io.rdma4j.sockets.io;

import java.io.IOException;
import java.time.Duration;

/** Sends a keep-alive of one endpoint at an interval, from a virtual thread, until it is stopped. */
final class KeepAlive {
    private final StreamEndpoint endpoint;
    private final Duration interval;
    private final Thread thread;

    KeepAlive(StreamEndpoint endpoint, int seconds) {
        this.endpoint = endpoint;
        this.interval = Duration.ofSeconds(seconds);
        this.thread = Thread.ofVirtual().start(this::run);
    }

    void stop() {
        thread.interrupt();
    }

    private void run() {
        try {
            while (endpoint.state() == StreamEndpoint.State.CONNECTED) {
                Thread.sleep(interval);
                endpoint.keepAlive();
            }
        } catch (InterruptedException | IOException ended) {
            Thread.currentThread().interrupt(); // stopped, or the connection has ended
        }
    }
}
