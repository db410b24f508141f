package io.rdma4j.link;

/**
 * News of the network interfaces of this host: one has come, gone, gone up or down, got or lost an address. What it was, who
 * hears of it finds out by looking; there may be news where nothing is to be seen. One thread waits; any may close.
 */
public interface InterfaceNews extends AutoCloseable {
    /**
     * Waits for news that have come since the last wait, or since this was made.
     *
     * @param timeoutNanos how long to wait at most, in nanoseconds
     * @return false if there are none, because time is over or this was closed
     */
    boolean await(long timeoutNanos);

    /** Ends a wait under way, and from now on every other one at once. Closing twice does nothing. */
    @Override
    void close();
}
