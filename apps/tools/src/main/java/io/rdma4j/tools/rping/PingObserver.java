package io.rdma4j.tools.rping;

/** Receives the time of every ping of a client. */
@FunctionalInterface
public interface PingObserver {
    /**
     * Called after each ping.
     *
     * @param ping the number of the ping, from 0
     * @param nanos the time from posting its first message to receiving the last message of the server, in nanoseconds
     */
    void onPing(int ping, long nanos);
}
