package io.rdma4j.link.host;

/**
 * Notifications about changes of this host's network interfaces: one is added or removed, goes up or down, or gains or
 * loses an address. A notification does not describe the change, so the receiver reads the interfaces again; it may
 * find them unchanged. One thread waits. Any thread may close.
 */
public interface InterfaceMonitor extends AutoCloseable {
    /**
     * Waits for a change since the last wait, or since this object was created.
     *
     * @param timeoutNanos maximum time to wait, in nanoseconds
     * @return false if there was no change, because the timeout elapsed or this object was closed
     */
    boolean await(long timeoutNanos);

    /**
     * Closes this object. A current wait returns, and every later one returns immediately. Closing it again has no
     * effect.
     */
    @Override
    void close();
}
