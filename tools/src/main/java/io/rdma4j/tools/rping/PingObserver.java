package io.rdma4j.tools.rping;

/** Is told how long every ping of a client took. */
@FunctionalInterface
public interface PingObserver {
    /**
     * A ping is done.
     *
     * @param ping its number, from 0
     * @param nanos time from posting its first message to the last message of the server, in nanoseconds
     */
    void onPing(int ping, long nanos);
}
